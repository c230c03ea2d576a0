//! The libraries that are Kubernetes' own.

use crate::check;

#[test]
fn regex() {
    check(&[
        ("'abc 123'.find('[0-9]+')", "123"),
        ("'abc 123'.find('xyz')", ""),
        ("'123 abc 456'.findAll('[0-9]+')", "[123, 456]"),
        ("'123 abc 456'.findAll('[0-9]+', 1)", "[123]"),
        ("'123'.findAll('xyz')", "[]"),
        ("object.kind.find(object.kind)", "Deployment"),
        ("object.kind.find('a[b')", "refused: error parsing regexp: missing closing ]: `[b`"),
        ("object.kind.find('(a')", "refused: error parsing regexp: missing closing ): `(a`"),
        ("object.kind.find('a)')", "refused: error parsing regexp: unexpected ): `a)`"),
        ("object.kind.find('a**')", "refused: error parsing regexp: invalid nested repetition operator: `**`"),
        ("object.kind.find('x+?{2}')", "refused: error parsing regexp: invalid nested repetition operator: `+?{2}`"),
        ("object.kind.find('*')", "refused: error parsing regexp: missing argument to repetition operator: `*`"),
        ("object.kind.find(r'\\q')", "refused: error parsing regexp: invalid escape sequence: `\\q`"),
        ("'aab'.find('a+?') + 'aab'.find('a{2}?')", "aaa"),
    ]);
}

#[test]
fn urls() {
    check(&[
        ("url('https://user:pass@example.com:80/path?query=val#fragment').getHost()", "example.com:80"),
        ("url('/path').getScheme() + url('/path').getHost()", ""),
        ("url('https://example.com/').getScheme()", "https"),
        ("url('https://[::1]:80/').getHost()", "[::1]:80"),
        ("url('https://[::1]:80/').getHostname()", "::1"),
        ("url('https://example.com:80/').getHostname()", "example.com"),
        ("url('https://example.com:80/').getPort() + url('https://example.com/').getPort()", "80"),
        ("url('https://example.com/path with spaces/').getEscapedPath()", "/path%20with%20spaces/"),
        ("url('https://example.com').getEscapedPath()", ""),
        ("url('https://example.com/path?k1=a&k2=b&k2=c').getQuery()", "{k1: [a], k2: [b, c]}"),
        (
            "url('https://example.com/path?key with spaces=value with spaces').getQuery()",
            "{key with spaces: [value with spaces]}",
        ),
        ("url('https://example.com/path?').getQuery()", "{}"),
        ("isURL('https://user:pass@example.com:80/path?query=val#fragment') && isURL('/absolute-path')", "true"),
        ("isURL('https://a:b:c/') || isURL('../relative-path') || isURL('foo')", "false"),
        (
            "url('../relative-path')",
            "error: URL parse error during conversion from string: parse \"../relative-path\": invalid URI for request",
        ),
        (
            "url('https://a:b:c/')",
            "error: URL parse error during conversion from string: parse \"https://a:b:c/\": invalid port \":c\" after host",
        ),
        ("url('https://a') == url('https://a')", "true"),
        ("isURL('mailto:someone') && url('https:://kubernetes.io/').getHostname() == ''", "true"),
        ("url('//host/path').getHost()", "host"),
        (
            "url('/a%zz')",
            "error: URL parse error during conversion from string: parse \"/a%zz\": invalid URL escape \"%zz\"",
        ),
    ]);
}

#[test]
fn ips() {
    check(&[
        ("ip('127.0.0.1').family() + ip('::1').family()", "10"),
        ("ip('0.0.0.0').isUnspecified() && ip('::').isUnspecified() && !ip('::1').isUnspecified()", "true"),
        ("ip('127.0.0.1').isLoopback() && ip('::1').isLoopback() && !ip('10.0.0.1').isLoopback()", "true"),
        ("ip('224.0.0.1').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast()", "true"),
        ("ip('224.0.1.1').isLinkLocalMulticast() || ip('fd00::1').isLinkLocalMulticast()", "false"),
        ("ip('169.254.169.254').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast()", "true"),
        ("ip('192.168.0.1').isGlobalUnicast() && ip('2001:db8::abcd').isGlobalUnicast()", "true"),
        ("ip('255.255.255.255').isGlobalUnicast() || ip('ff00::1').isGlobalUnicast()", "false"),
        (
            "isIP('127.0.0.1') && isIP('::1') && !isIP('127.0.0.256') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%eth0')",
            "true",
        ),
        (
            "ip.isCanonical('127.0.0.1') && ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD')",
            "true",
        ),
        ("string(ip('2001:DB8::ABCD'))", "2001:db8::abcd"),
        ("ip('::1') == ip('0:0::1')", "true"),
        ("type(ip('::1')) == net.IP", "true"),
        (
            "ip('127.0.0.256')",
            "error: IP Address \"127.0.0.256\" parse error during conversion from string: ParseAddr(\"127.0.0.256\"): IPv4 field has value >255",
        ),
        (
            "ip('127.0.0.01')",
            "error: IP Address \"127.0.0.01\" parse error during conversion from string: ParseAddr(\"127.0.0.01\"): IPv4 field has octet with leading zero",
        ),
        (
            "ip('192.168.0.1.0')",
            "error: IP Address \"192.168.0.1.0\" parse error during conversion from string: ParseAddr(\"192.168.0.1.0\"): IPv4 address too long",
        ),
        (
            "ip('2001:db8:::68')",
            "error: IP Address \"2001:db8:::68\" parse error during conversion from string: ParseAddr(\"2001:db8:::68\"): each colon-separated field must have at least one digit (at \":68\")",
        ),
        ("ip('::ffff:1.2.3.4')", "error: IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed"),
        ("ip('fe80::1%eth0')", "error: IP address \"fe80::1%eth0\" with zone value is not allowed"),
    ]);
}

#[test]
fn cidrs() {
    check(&[
        (
            "cidr('192.168.0.0/24').containsIP(ip('192.168.0.1')) && cidr('192.168.0.0/24').containsIP('192.168.0.1')",
            "true",
        ),
        ("cidr('192.168.0.0/24').containsIP('192.168.1.1') || cidr('::/0').containsIP('10.0.0.1')", "false"),
        (
            "cidr('192.168.0.0/16').containsCIDR(cidr('192.168.10.0/24')) && cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24')",
            "true",
        ),
        ("cidr('192.168.0.0/24').containsCIDR('192.168.0.0/16')", "false"),
        ("string(cidr('192.168.0.1/24').ip())", "192.168.0.1"),
        ("string(cidr('192.168.0.1/24').masked())", "192.168.0.0/24"),
        ("cidr('192.168.0.0/24') == cidr('192.168.0.0/24').masked()", "true"),
        ("cidr('::1/128').prefixLength()", "128"),
        (
            "isCIDR('192.168.0.0/16') && isCIDR('::1/128') && !isCIDR('192.168.0.0/33') && !isCIDR('::1/129') && !isCIDR('1.2.3.4')",
            "true",
        ),
        (
            "cidr('192.168.0.0/33')",
            "error: network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix(\"192.168.0.0/33\"): prefix length out of range",
        ),
        (
            "cidr('10.0.0.0/8').containsIP('x')",
            "error: IP Address \"x\" parse error during conversion from string: ParseAddr(\"x\"): unable to parse IP",
        ),
    ]);
}

#[test]
fn quantities() {
    check(&[
        ("quantity('1.5G') == quantity('1500M')", "true"),
        (
            "isQuantity('1.3Gi') && isQuantity('10000k') && !isQuantity('200K') && !isQuantity('Three') && !isQuantity('1,3G')",
            "true",
        ),
        ("quantity('50k').isInteger() && quantity('50k').asInteger() == 50000", "true"),
        ("quantity('9999999999999999999999999999999999999G').isInteger()", "false"),
        ("quantity('9999999999999999999999999999999999999G').asInteger()", "error: cannot convert value to integer"),
        ("quantity('0.5').isInteger()", "false"),
        ("quantity('50k').sub(20000).asApproximateFloat() == 30000.0", "true"),
        ("sign(quantity('-1')) + sign(quantity('0')) + sign(quantity('2k'))", "0"),
        ("quantity('50k').add(quantity('20k')) == quantity('70k')", "true"),
        ("quantity('50k').add(20) == quantity('50020')", "true"),
        ("quantity('50k').add(20).sub(quantity('100k')).sub(-50000) == quantity('20')", "true"),
        ("quantity('200M').compareTo(quantity('0.2G')) + quantity('50M').compareTo(quantity('50Mi'))", "-1"),
        ("quantity('150Mi').isGreaterThan(quantity('100Mi')) && quantity('50M').isLessThan(quantity('100M'))", "true"),
        (
            "quantity('10 Mo')",
            "error: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ("dyn(quantity('1')) == 1", "error: no such overload"),
        ("dyn(quantity('1')) != 1", "true"),
        ("quantity(object.spec.replicas)", "error: no such overload: quantity(int)"),
    ]);
}

#[test]
fn semvers() {
    check(&[
        ("semver('1.2.3').major() + semver('1.2.3').minor() + semver('1.2.3').patch()", "6"),
        ("isSemver('1.0.0') && isSemver('1.2.3-alpha.1+build') && !isSemver('v1.0') && !isSemver('01.0.0')", "true"),
        ("isSemver('v1.0', true) && isSemver('01.02.03', true) && !isSemver('1-beta', true)", "true"),
        ("semver('v1.0', true).compareTo(semver('1.0.0'))", "0"),
        (
            "semver('1.2.3').isGreaterThan(semver('1.2.3-rc.1')) && semver('1.2.3-alpha').isLessThan(semver('1.2.3-beta'))",
            "true",
        ),
        (
            "semver('1.0.0-2').isLessThan(semver('1.0.0-10')) && semver('1.0.0-10').isLessThan(semver('1.0.0-a'))",
            "true",
        ),
        ("semver('1.0.0+a') == semver('1.0.0+b')", "true"),
        ("semver('three')", "error: No Major.Minor.Patch elements found"),
    ]);
}

#[test]
fn named_formats() {
    check(&[
        ("format.dns1123Label().validate('my-label-name')", "optional.none()"),
        (
            "format.dns1123Label().validate('contains a space').value()[0]",
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        ),
        ("format.dns1123Subdomain().validate('apiextensions.k8s.io').hasValue()", "false"),
        ("format.dns1123Subdomain().validate('A.b').hasValue()", "true"),
        ("format.dns1035Label().validate('1a').hasValue() && !format.dns1035Label().validate('a1').hasValue()", "true"),
        ("format.qualifiedName().validate('apiextensions.k8s.io/v1beta1').hasValue()", "false"),
        ("format.dns1123LabelPrefix().validate('my-label-prefix-').hasValue()", "false"),
        ("format.dns1123Label().validate('my-label-prefix-').hasValue()", "true"),
        ("format.dns1123SubdomainPrefix().validate('mysubdomain.prefix.-').hasValue()", "false"),
        ("format.dns1035LabelPrefix().validate('my-').hasValue()", "false"),
        ("format.labelValue().validate('a b').hasValue() && !format.labelValue().validate('').hasValue()", "true"),
        (
            "format.uri().validate('http://example.com').hasValue() || !format.uri().validate('nope').hasValue()",
            "false",
        ),
        ("format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()", "false"),
        ("format.uuid().validate('not-a-uuid').value()", "[does not match the UUID format]"),
        ("format.byte().validate('aGVsbG8=').hasValue()", "false"),
        ("format.byte().validate('aGVsbG8').value()", "[invalid base64]"),
        ("format.date().validate('2021-01-01').hasValue()", "false"),
        ("format.date().validate('2021-99-01').value()", "[invalid date]"),
        ("format.datetime().validate('2021-01-01T00:00:00Z').hasValue()", "false"),
        ("format.datetime().validate('not-a-date').value()", "[invalid datetime]"),
        ("format.named('dns1123Label').value().validate('a').hasValue()", "false"),
        ("format.named('nope')", "optional.none()"),
    ]);
}

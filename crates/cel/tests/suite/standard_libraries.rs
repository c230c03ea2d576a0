//! The functions of the language and its extensions.

use crate::check;

#[test]
fn sizes_and_conversions() {
    check(&[
        ("size('abc') + 'abc'.size() + size([1]) + [1].size() + size({1: 2}) + {1: 2}.size()", "10"),
        ("size(1)", "refused: found no matching overload for 'size' applied to '(int)'"),
        ("size(object.spec.replicas)", "error: no such overload: size(int)"),
        ("int('12') + int(3.9) + int(4u)", "19"),
        ("int('x')", "refused: type conversion error from 'string' to 'int'"),
        ("int(object.kind)", "error: type conversion error from 'string' to 'int'"),
        ("int(1e19)", "refused: integer overflow"),
        ("int(timestamp('1970-01-01T00:01:00Z'))", "60"),
        ("int(duration('1us'))", "1000"),
        ("uint(3) == 3u && uint('3') == 3u && uint(3.2) == 3u", "true"),
        ("uint(object.spec.replicas - 5)", "error: unsigned integer overflow"),
        ("double('1.5') + double(1) + double(1u)", "3.5"),
        ("string(1) + string(1u) + string(1.5) + string(true) + string(b'a')", "111.5truea"),
        ("string(1000000.0)", "1e+06"),
        ("string(123456.0)", "123456"),
        ("string(0.00001)", "1e-05"),
        ("string(b'\\xff')", "refused: invalid UTF-8 in bytes, cannot convert to string"),
        ("string(duration('90m'))", "5400s"),
        ("string(timestamp('2011-01-01T00:00:00.5+01:00'))", "2011-01-01T00:00:00.5+01:00"),
        ("bool('true') && !bool('f')", "true"),
        ("bytes('abc') == b'abc'", "true"),
        ("dyn(1) == 1", "true"),
        ("type(int)", "type"),
    ]);
}

#[test]
fn string_tests() {
    check(&[
        ("'abc'.contains('b') && 'abc'.startsWith('ab') && 'abc'.endsWith('bc')", "true"),
        ("'abc'.matches('^a.c$') && matches('abc', 'b')", "true"),
        ("object.kind.matches('^[A-Z]\\\\w+$')", "true"),
        ("'abc'.matches('(')", "refused: invalid matches argument"),
        ("object.spec.replicas.contains('a')", "error: no such overload: contains(int, string)"),
        ("'a'.nope()", "refused: undeclared reference to 'nope' (in container '')"),
        ("nope('a')", "refused: undeclared reference to 'nope' (in container '')"),
        ("nope", "refused: undeclared reference to 'nope' (in container '')"),
        ("'a'.startsWith(1)", "refused: found no matching overload for 'startsWith' applied to 'string.(int)'"),
    ]);
}

#[test]
fn times() {
    check(&[
        ("timestamp('2023-06-15T10:20:30.456Z').getFullYear()", "2023"),
        ("timestamp('2023-06-15T10:20:30.456Z').getMonth()", "5"),
        ("timestamp('2023-06-15T10:20:30.456Z').getDate()", "15"),
        ("timestamp('2023-06-15T10:20:30.456Z').getDayOfMonth()", "14"),
        ("timestamp('2023-06-15T10:20:30.456Z').getDayOfYear()", "165"),
        ("timestamp('2023-06-15T10:20:30.456Z').getDayOfWeek()", "4"),
        ("timestamp('2023-06-15T10:20:30.456Z').getHours()", "10"),
        ("timestamp('2023-06-15T10:20:30.456Z').getMinutes()", "20"),
        ("timestamp('2023-06-15T10:20:30.456Z').getSeconds()", "30"),
        ("timestamp('2023-06-15T10:20:30.456Z').getMilliseconds()", "456"),
        ("timestamp('2023-06-15T10:20:30Z').getHours('America/New_York')", "6"),
        ("timestamp('2023-06-15T10:20:30Z').getHours('+02:30')", "12"),
        ("timestamp('2023-06-15T10:20:30Z').getHours('-02:30')", "7"),
        ("timestamp('2023-06-15T10:20:30Z').getHours('Nowhere/None')", "error: unknown time zone Nowhere/None"),
        ("timestamp('2023-06-15T10:20:30Z') + duration('1h') == timestamp('2023-06-15T11:20:30Z')", "true"),
        ("timestamp('2023-06-15T10:20:30+01:00') == timestamp('2023-06-15T09:20:30Z')", "true"),
        ("timestamp('2023-06-15T00:00:01Z') - timestamp('2023-06-15T00:00:00Z')", "1s"),
        ("timestamp('2023-06-15T00:00:01Z') - duration('1s')", "2023-06-15T00:00:00Z"),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1s')", "error: timestamp overflow"),
        ("timestamp(0)", "1970-01-01T00:00:00Z"),
        ("timestamp(-62135596801)", "refused: invalid timestamp argument"),
        ("timestamp('yesterday')", "refused: invalid timestamp argument"),
        ("timestamp(object.kind)", "error: type conversion error from 'string' to 'google.protobuf.Timestamp'"),
        ("duration('1h30m').getMinutes()", "90"),
        ("duration('1h30m').getHours()", "1"),
        ("duration('1.5s').getMilliseconds()", "1500"),
        ("duration('90s').getSeconds()", "90"),
        ("duration('1h') + duration('-1m') > duration('58m')", "true"),
        ("duration('1x')", "refused: invalid duration argument"),
        ("duration(object.kind)", "error: type conversion error from 'string' to 'google.protobuf.Duration'"),
        ("duration('9223372036s') * 2", "refused: found no matching overload for '_*_' applied to '(duration, int)'"),
        ("duration('9223372036s') + duration('1h')", "error: duration overflow"),
    ]);
}

#[test]
fn strings() {
    check(&[
        ("'tacocat'.charAt(3)", "o"),
        ("'tacocat'.charAt(7)", ""),
        ("'tacocat'.charAt(8)", "error: index out of range: 8"),
        ("'hello mellow'.indexOf('ello')", "1"),
        ("'hello mellow'.indexOf('jello')", "-1"),
        ("'hello mellow'.indexOf('')", "0"),
        ("'hello mellow'.indexOf('ello', 2)", "7"),
        ("'hello mellow'.indexOf('ello', 20)", "-1"),
        ("'äöäö'.indexOf('ö', 2)", "3"),
        ("'hello mellow'.indexOf('ello', -1)", "error: index out of range: -1"),
        ("'hello mellow'.lastIndexOf('ello')", "7"),
        ("'hello mellow'.lastIndexOf('')", "12"),
        ("'hello mellow'.lastIndexOf('ello', 6)", "1"),
        ("'hello mellow'.lastIndexOf('ello', 7)", "7"),
        ("'hello mellow'.lastIndexOf('ello', -1)", "error: index out of range: -1"),
        ("'äöäö'.lastIndexOf('ö', 2)", "1"),
        ("'TacoÄ'.lowerAscii() + 'TacoÄ'.upperAscii()", "tacoÄTACOÄ"),
        ("'  \\t a b\\n'.trim()", "a b"),
        ("'hello hello'.replace('he', 'we')", "wello wello"),
        ("'hello hello'.replace('he', 'we', 1)", "wello hello"),
        ("'hello hello'.replace('he', 'we', -1)", "wello wello"),
        ("'ab'.replace('', '_')", "_a_b_"),
        ("'a,b,c'.split(',')", "[a, b, c]"),
        ("'a,b,c'.split(',', 2)", "[a, b,c]"),
        ("'a,b,c'.split(',', 0)", "[]"),
        ("'a,b,c'.split(',', -1)", "[a, b, c]"),
        ("'abc'.split('')", "[a, b, c]"),
        ("'abc'.split('', 2)", "[a, bc]"),
        ("'tacocat'.substring(4)", "cat"),
        ("'tacocat'.substring(0, 4)", "taco"),
        ("'tacocat'.substring(4, 2)", "error: invalid substring range. start: 4, end: 2"),
        ("'tacocat'.substring(0, 9)", "error: index out of range: 9"),
        ("'tacocat'.substring(-1)", "error: index out of range: -1"),
        ("['a', 'b'].join() + ['a', 'b'].join('-')", "aba-b"),
        ("names.join(', ')", "b, a, c"),
        ("object.spec.ports.join(',')", "error: no such overload: join(list, string)"),
        (r#"strings.quote('a"b\n\\')"#, r#""a\"b\n\\""#),
        ("'abc'.reverse()", "refused: found no matching overload for 'reverse' applied to 'string.()'"),
    ]);
}

#[test]
fn formats() {
    check(&[
        ("'%s is %d'.format(['a', 1])", "a is 1"),
        ("'100%%'.format([])", "100%"),
        ("'%s'.format([['a', 1, 1.5, null, true, b'x']])", "[\"a\", 1, 1.500000, null, true, b\"x\"]"),
        ("'%s'.format([{'b': 1, 'a': [duration('1s')]}])", "{\"a\":[duration(\"1s\")], \"b\":1}"),
        ("'%s %s %s'.format([1.5, true, type(1)])", "1.5 true int"),
        ("'%.2f'.format([3.14159])", "3.14"),
        ("'%f'.format([1234567.5])", "1,234,567.500000"),
        ("'%.3e'.format([1052.032911275])", "1.052033×10⁰³"),
        ("'%b %b'.format([5, true])", "101 1"),
        ("'%x %X %x'.format([26, 26, 'hi'])", "1a 1A 6869"),
        ("'%o'.format([11])", "13"),
        ("'%d %d'.format([1])", "refused: index 1 out of range"),
        ("'%d'.format([1, 2])", "refused: too many arguments supplied to string.format (expected 1, got 2)"),
        (
            "'%d'.format(['a'])",
            "refused: error during formatting: decimal clause can only be used on integers, was given string",
        ),
        (
            "'%d'.format([object.kind])",
            "error: error during formatting: decimal clause can only be used on integers, was given string",
        ),
        ("'%z'.format([1])", "refused: could not parse formatting clause: unrecognized formatting clause \"z\""),
        ("'%'.format([1])", "refused: unexpected end of string"),
        (
            "'%s'.format([quantity('1')])",
            "refused: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given kubernetes.Quantity",
        ),
    ]);
}

#[test]
fn lists() {
    check(&[
        ("[1, 2, 3].isSorted() && !['b', 'a'].isSorted() && [1.0].isSorted()", "true"),
        ("names.isSorted()", "false"),
        ("[1, 3].sum() + [1, 2].max() + [1, 2].min()", "7"),
        ("[1.5, 2.5].sum()", "4"),
        ("[duration('1m'), duration('1s')].sum()", "61s"),
        ("object.spec.ports.sum()", "523"),
        ("[].sum()", "0"),
        ("['a', 'b'].max()", "b"),
        ("[1].filter(x, x > 1).min()", "error: min called on empty list"),
        ("['a'].sum()", "refused: found no matching overload for 'sum' applied to 'list(string).()'"),
        ("[1, 2, 2, 3].indexOf(2) + [1, 2, 2, 3].lastIndexOf(2)", "3"),
        ("['a'].indexOf('b')", "-1"),
        ("[1, 2, 3, 4].slice(1, 3)", "[2, 3]"),
        ("[1].slice(0, 2)", "error: cannot slice(0, 2), list is length 1"),
        ("[1].slice(1, 0)", "error: cannot slice(1, 0), start index must be less than or equal to end index"),
        ("[1].slice(-1, 0)", "error: cannot slice(-1, 0), negative indexes not supported"),
        (
            "[[1], [2, [3]]].flatten()",
            "refused: expected type 'list(int)' but found 'list(dyn)'; expected type 'int' but found 'list(int)'",
        ),
        ("[[1], [2, 3]].flatten()", "[1, 2, 3]"),
        ("[[[1]], [[2]]].flatten(2)", "[1, 2]"),
        ("dyn([1, 2]).flatten()", "[1, 2]"),
        ("[[1]].flatten(-1)", "error: level must be non-negative"),
        ("[3, 1, 2].sort() + ['b', 'a'].sort().map(x, size(x))", "[1, 2, 3, 1, 1]"),
        ("names.sort()", "[a, b, c]"),
        ("[{'n': 2}, {'n': 1}].sortBy(x, x.n)", "[{n: 1}, {n: 2}]"),
        ("object.spec.containers.sortBy(c, c.image).map(c, c.name)", "[a, b]"),
        (
            "1.sortBy(x, x)",
            "refused: sortBy can only be applied to a list, identifier, comprehension, call or select expression",
        ),
        ("lists.range(4)", "[0, 1, 2, 3]"),
        ("lists.range(100000000)", "error: operation cancelled: actual cost limit exceeded"),
        ("size([1, 2] + [3] + [])", "3"),
        ("([1, 2] + names.map(n, size(n)))[3] + ([1] + [2]).sum()", "4"),
        ("([[1], [2]] + [[3]]).flatten() == [1] + [2] + [3]", "true"),
        ("[1, 2].reverse()", "[2, 1]"),
        ("[1, 2, 1].distinct()", "[1, 2]"),
    ]);
}

#[test]
fn sets() {
    check(&[
        ("sets.contains([1, 2, 3], [1, 3]) && !sets.contains([1], [2])", "true"),
        ("sets.equivalent([1, 1], [1]) && !sets.equivalent([1], [1, 2])", "true"),
        ("sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [])", "true"),
        (
            "sets.contains(['a'], [1])",
            "refused: found no matching overload for 'sets.contains' applied to '(list(string), list(int))'",
        ),
    ]);
}

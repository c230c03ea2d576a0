//! Literals, operators, selection, macros, optionals, comprehensions.

use crate::check;

#[test]
fn literals() {
    check(&[
        ("1", "1"),
        ("-1", "-1"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775808", "refused: invalid int literal"),
        ("0xff", "255"),
        ("-0x10", "-16"),
        ("1u", "1"),
        ("0xFFu", "255"),
        ("18446744073709551616u", "refused: invalid uint literal"),
        ("1.5", "1.5"),
        (".5", "0.5"),
        ("1e3", "1000"),
        ("1.5e-3", "0.0015"),
        ("1e400", "refused: invalid double literal"),
        ("true && !false", "true"),
        ("null", "null"),
        ("'a' + \"b\"", "ab"),
        (
            r"'\n' == '''
'''",
            "true",
        ),
        (r"'\x41\u0042\U00000043\104\?\`'", "ABCD?`"),
        (r"r'\n'", r"\n"),
        (r#"R"""a"b"""#, "refused: Syntax error: mismatched input '\"a\"' expecting <EOF>"),
        (r#"r"""a"b""""#, r#"a"b"#),
        (
            r"'\q'",
            r"refused: Syntax error: token recognition error at: ''\q'; Syntax error: token recognition error at: '''; Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        ),
        (r"'\ud800'", "refused: invalid unicode code point"),
        (r"b'\xff\101' == b'\377A'", "true"),
        (r"b'\u0041'", "refused: unable to unescape string"),
        ("size(b'äö')", "4"),
        ("size('äö')", "2"),
        ("[1, 2, 3,]", "[1, 2, 3]"),
        ("{'a': 1, 'b': 2,}", "{a: 1, b: 2}"),
        ("{1: 'a', true: 'b'}", "refused: expected type 'int' but found 'bool'"),
        ("[1, 'a']", "refused: expected type 'int' but found 'string'"),
        ("// a comment\n1 // and one more", "1"),
    ]);
}

#[test]
fn arithmetic() {
    check(&[
        ("1 + 2 * 3 - 4 / 2 % 3", "5"),
        ("(1 + 2) * 3", "9"),
        ("7 / -2", "-3"),
        ("-7 % 3", "-1"),
        ("7u % 4u", "3"),
        ("1 / 0", "error: division by zero"),
        ("1 % 0", "error: modulus by zero"),
        ("1u / 0u", "error: division by zero"),
        ("1.0 / 0.0", "+Inf"),
        ("9223372036854775807 + 1", "error: integer overflow"),
        ("-9223372036854775808 - 1", "error: integer overflow"),
        ("9223372036854775807 * 2", "error: integer overflow"),
        ("-9223372036854775808 / -1", "error: integer overflow"),
        ("-(-9223372036854775808)", "error: integer overflow"),
        ("0u - 1u", "error: unsigned integer overflow"),
        ("-(1)", "-1"),
        ("--1", "1"),
        ("!!true", "true"),
        ("-object.spec.ratio", "-0.5"),
        ("[1] + [2]", "[1, 2]"),
        ("b'a' + b'b'", "ab"),
        ("object.spec.replicas + 'a'", "error: no such overload"),
        ("object.kind - 1", "error: no such overload: _-_"),
        ("1 + 'a'", "refused: found no matching overload for '_+_' applied to '(int, string)'"),
        ("1 + 1u", "refused: found no matching overload for '_+_' applied to '(int, uint)'"),
    ]);
}

#[test]
fn comparison() {
    check(&[
        ("1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3", "true"),
        ("1 < 1.5 && 2u > 1 && 1u <= 1.0", "true"),
        ("dyn(1) == 1.0 && dyn(1u) == 1", "true"),
        ("1 == 1.0", "refused: found no matching overload for '_==_' applied to '(int, double)'"),
        ("dyn('1') == 1", "false"),
        ("dyn('1') < 1", "error: no such overload"),
        ("'a' < 'b' && b'a' < b'b' && false < true", "true"),
        ("9007199254740993 < 9007199254740992.0", "false"),
        ("0.0 / 0.0 == 0.0 / 0.0", "false"),
        ("0.0 / 0.0 < 1.0", "error: NaN values cannot be ordered"),
        ("[1, 2] == [1, 2] && [1] != [2]", "true"),
        ("{'a': [1]} == {'a': [1]}", "true"),
        ("dyn([1]) == [1.0]", "true"),
        ("null == null", "true"),
        ("object.spec.nothing == null", "true"),
        ("object.spec.replicas != null", "true"),
        ("1 in [1, 2] && !('c' in ['a'])", "true"),
        ("dyn(1.0) in [1, 2]", "true"),
        ("'app' in object.metadata.labels", "true"),
        ("'x' in object.kind", "error: no such overload"),
        ("object.spec.replicas in []", "false"),
        ("object.spec.replicas in [1, 2, 3, 4, 5, 6]", "true"),
        ("'a' in ['b', 'c', string(object.spec.containers[0].name)]", "true"),
        ("'a' in ['b', object.spec.containers[0].name]", "refused: expected type 'string' but found 'dyn'"),
        ("1 == 1 == true", "true"),
    ]);
}

#[test]
fn logic() {
    check(&[
        ("true || object.nope", "true"),
        ("object.nope || true", "true"),
        ("object.nope && false", "false"),
        ("object.nope || false", "error: no such key: nope"),
        ("true && object.nope", "error: no such key: nope"),
        ("object.kind && true", "error: no such overload"),
        ("true ? 1 : 2", "1"),
        ("false ? object.nope : 2", "2"),
        ("object.nope ? 1 : 2", "error: no such key: nope"),
        ("true ? 1 : 'a'", "refused: found no matching overload for '_?_:_' applied to '(bool, int, string)'"),
        ("(true ? object.metadata : object.spec).name", "web"),
        ("1 && true", "refused: expected type 'bool' but found 'int'"),
    ]);
}

#[test]
fn selection() {
    check(&[
        ("object.metadata.name", "web"),
        ("object['metadata']['name']", "web"),
        ("object.metadata.namespace", "shop"),
        ("object.spec.ports[1]", "443"),
        ("object.spec.ports[object.spec.replicas - 2]", "443"),
        ("object.spec.ports[2]", "error: index out of bounds: 2"),
        ("object.spec.ports[-1]", "error: index out of bounds: -1"),
        ("object.spec.ports['a']", "error: unsupported index type 'string' in list"),
        ("object.spec.ports[1.0]", "443"),
        ("object.spec.ports[0.5]", "error: unsupported index value 0.5 in list"),
        ("object.spec.nope", "error: no such key: nope"),
        ("object.spec.nothing.deeper", "error: no such key: deeper"),
        ("object.kind.deeper", "error: no such key: deeper"),
        ("{1: 'a'}[1]", "a"),
        ("{1: 'a'}[dyn(1.0)]", "a"),
        ("{1: 'a'}[2]", "error: no such key: 2"),
        ("{'a': {'b': 1}}.a.b", "1"),
        ("missing.a", "error: no such attribute(s): missing"),
        ("has(object.spec.replicas) && has(object.spec.nothing)", "true"),
        ("has(object.spec.nope)", "false"),
        ("has(object.nope.deeper)", "error: no such key: nope"),
        ("has(object.kind.deeper)", "false"),
        ("has(object)", "refused: invalid argument to has() macro"),
        ("type(object.spec.replicas) == int && type(object.spec.ratio) == double", "true"),
        ("type(object) == map && type(object.spec.ports) == list", "true"),
        ("type(null) == null_type && type(type(1)) == type", "true"),
        ("type(1u)", "uint"),
        ("type(duration('1s')) == google.protobuf.Duration", "true"),
    ]);
}

#[test]
fn macros() {
    check(&[
        ("[1, 2, 3].all(x, x > 0)", "true"),
        ("[1, 2, 3].all(x, x > 1)", "false"),
        ("[].all(x, x > 1)", "true"),
        ("object.metadata.labels.all(k, k.startsWith('t') || k == 'app')", "true"),
        ("[1, 2, 0].all(x, 2 / x > 0)", "error: division by zero"),
        ("[0, 1, 4].all(x, 2 / x > 0)", "false"),
        ("[1, 2].exists(x, x == 2)", "true"),
        ("[0, 1].exists(x, 1 / x == 1)", "true"),
        ("[1, 2].exists(x, x == 3)", "false"),
        ("[1, 2, 2].exists_one(x, x == 1)", "true"),
        ("[1, 2, 2].exists_one(x, x == 2)", "false"),
        ("[1, 2, 2].existsOne(x, x == 1)", "true"),
        ("[1, 2].map(x, x * 2)", "[2, 4]"),
        ("[1, 2, 3].map(x, x > 1, x * 2)", "[4, 6]"),
        ("[1, 2, 3].filter(x, x > 1)", "[2, 3]"),
        ("[3].filter(x, x > 5)", "[]"),
        ("object.metadata.labels.map(k, k)", "[app, tier]"),
        ("{'a': 1}.filter(k, k == 'a')", "[a]"),
        ("[[1], [2, 3]].map(l, l.map(x, x + 1))", "[[2], [3, 4]]"),
        ("[1].map(x, [2].map(y, x + y))", "[[3]]"),
        ("[1, 2].map(x, 7)", "[7, 7]"),
        ("object.kind.all(x, true)", "error: got 'types.String', expected iterable type"),
        (
            "'abc'.all(x, true)",
            "refused: expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        ("[1].all(1, true)", "refused: argument must be a simple name"),
        ("[1].map(1, true)", "refused: argument is not an identifier"),
        ("[1].all(__result__, true)", "refused: iteration variable overwrites accumulator variable"),
        ("cel.bind(x, 1 + 1, x * x)", "4"),
        ("cel.bind(x, object.nope, true || x)", "true"),
        ("cel.bind(x, [1, 2].map(y, y * 2), [10].map(z, x.map(w, w + z)))", "[[12, 14]]"),
        ("cel.bind(x, [1, 2], [1].map(y, x.map(z, z + y) + x.filter(z, z > y)))", "[[2, 3, 2]]"),
    ]);
}

#[test]
fn macros_with_two_variables() {
    check(&[
        ("[1, 2].all(i, v, i < v)", "true"),
        ("{'a': 'a'}.all(k, v, k == v)", "true"),
        ("[5, 6].exists(i, v, i == 1 && v == 6)", "true"),
        ("[5, 6].existsOne(i, v, v > 5)", "true"),
        ("[5, 6].exists_one(i, v, v > 4)", "false"),
        ("[5, 6].transformList(i, v, i + v)", "[5, 7]"),
        ("[5, 6].transformList(i, v, i > 0, i + v)", "[7]"),
        ("{'a': 1, 'b': 2}.transformList(k, v, k + string(v))", "[a1, b2]"),
        ("{'a': 1, 'b': 2}.transformMap(k, v, v * 2)", "{a: 2, b: 4}"),
        ("{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 2)", "{b: 4}"),
        ("[5, 6].transformMap(i, v, v)", "{0: 5, 1: 6}"),
        ("{'a': 'x'}.transformMapEntry(k, v, {v: k})", "{x: a}"),
        ("{'a': 'x', 'b': 'x'}.transformMapEntry(k, v, {v: k})", "error: insert failed: key x already exists"),
        ("{'a': 'x', 'b': 'y'}.transformMapEntry(k, v, k == 'b', {v: k})", "{y: b}"),
        ("object.metadata.labels.transformMap(k, v, v.upperAscii())", "{app: WEB, tier: FRONT}"),
        ("[1].all(i, i, true)", "refused: duplicate variable name: i"),
        ("object.kind.all(i, v, true)", "error: unsupported comprehension range type: types.String"),
    ]);
}

#[test]
fn optionals() {
    check(&[
        ("object.?spec.?replicas", "optional.of(3)"),
        ("object.?nope.?deeper", "optional.none()"),
        ("object.?spec.replicas.orValue(0)", "3"),
        ("object.?nope.deeper.orValue(7)", "7"),
        ("object.spec.ports[?0].orValue(1)", "80"),
        ("object.spec.ports[?9].hasValue()", "false"),
        ("object[?'nope'].or(optional.of('x'))", "optional.of(x)"),
        ("optional.of(1).value()", "1"),
        ("optional.none().value()", "error: optional.none() dereference"),
        ("optional.ofNonZeroValue('')", "optional.none()"),
        ("optional.ofNonZeroValue(1)", "optional.of(1)"),
        ("optional.of(1).optMap(x, x + 1)", "optional.of(2)"),
        ("optional.none().optMap(x, x + 1).hasValue()", "false"),
        ("object.?metadata.optFlatMap(m, m.?name)", "optional.of(web)"),
        ("object.?metadata.optMap(1, 2)", "refused: optMap() variable name must be a simple identifier"),
        ("[?object.?nope, ?object.?kind]", "[Deployment]"),
        ("{?'a': object.?nope, ?'b': object.?kind}", "{b: Deployment}"),
        ("[?1]", "refused: expected type 'optional_type(int)' but found 'int'"),
        ("[1, 2].first() == optional.of(1) && [1, 2].last().value() == 2", "true"),
        ("[].first()", "optional.none()"),
        ("optional.unwrap([optional.of(1), optional.none()])", "[1]"),
        ("[optional.of(1), optional.none()].unwrapOpt()", "[1]"),
        ("has(object.?spec.replicas)", "true"),
        ("has(object.?nope.replicas)", "false"),
        ("optional.of({'a': 1}).a", "optional.of(1)"),
        ("optional.of([1])[0]", "optional.of(1)"),
        ("optional.of(1) == optional.of(1) && optional.of(1) != optional.none()", "true"),
    ]);
}

#[test]
fn objects() {
    check(&[
        ("Object{spec: Object.spec{replicas: 1}}", "Object{spec: Object.spec{replicas: 1}}"),
        ("Object{spec: Object.spec{replicas: 1}}.spec.replicas", "1"),
        ("has(Object{a: 1}.a) && !has(Object{a: 1}.b)", "true"),
        ("Object{a: 1}.b == null && JSONPatch{op: 'add'}.path == ''", "true"),
        ("has(JSONPatch{op: 'add', path: ''}.path)", "false"),
        ("Object{?a: object.?nope, b: 1}", "Object{b: 1}"),
        ("Object{a: 1} == Object{a: 1}", "true"),
        ("[JSONPatch{op: 'add', path: '/a', value: 1}][0].op", "add"),
        ("JSONPatch{op: 1}", "refused: expected type of field 'op' is 'string' but provided type is 'int'"),
        ("JSONPatch{nope: 1}", "refused: undefined field 'nope'"),
        ("Nope{a: 1}", "refused: undeclared reference to 'Nope' (in container '')"),
        ("int{a: 1}", "refused: 'int' is not a message type"),
        ("jsonpatch.escapeKey('k8s.io/my~label')", "k8s.io~1my~0label"),
    ]);
}

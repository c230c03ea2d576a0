//! Tokens to the syntax tree, by recursive descent over CEL.g4, expanding macros on the
//! way ([`crate::macros`]). The first syntax error ends the parse: what cel-go reports
//! after it are consequences of it.

use std::sync::Arc;

use crate::ast::{Ast, Expr, ExprKind, Literal, MapEntry, StructField};
use crate::escape::RESERVED;
use crate::lexer::{Kind, Token, tokenize};
use crate::literal::unquote;
use crate::macros;
use crate::source::{CompileErrors, Issue, Source};

/// The longest expression, in characters.
const MAX_CHARACTERS: usize = 100_000;

/// How deep expressions may nest, and how long a chain of operators or selections may be.
const MAX_DEPTH: usize = 250;

/// How deep the tree may be after macros expanded, so that checking and evaluating it by
/// recursion fits any thread's stack.
const MAX_TREE_DEPTH: usize = 500;

const OPERAND: &str =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/// Which macros expand; the standard ones and the optional ones always do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Macros {
    pub two_variables: bool,
    pub sort_by: bool,
    pub bind: bool,
}

pub(crate) fn parse(source: &Source, macros: Macros) -> Result<Ast, CompileErrors> {
    let text = source.text();
    let fail = |issues| Err(CompileErrors::new(source.clone(), issues));
    let size = text.chars().count();
    if size > MAX_CHARACTERS {
        let message = format!("expression code point size exceeds limit: size: {size}, limit {MAX_CHARACTERS}");
        return fail(vec![Issue { offset: None, message }]);
    }
    let mut issues = Vec::new();
    let tokens = tokenize(text, &mut issues);
    let mut parser =
        Parser { tokens, at: 0, nodes: Nodes { offsets: Vec::new() }, issues, macros, depth: 0, chained: 0 };
    match parser.parse_start() {
        Ok(root) if parser.issues.is_empty() => Ok(Ast { root, offsets: parser.nodes.offsets }),
        _ => fail(parser.issues),
    }
}

/// The parse cannot go on; the reason is among the issues.
struct Stop;

type Parsed<T> = Result<T, Stop>;

/// Gives out node ids and remembers where each node was.
pub(crate) struct Nodes {
    offsets: Vec<u32>,
}

impl Nodes {
    pub fn id(&mut self, offset: u32) -> usize {
        self.offsets.push(offset);
        self.offsets.len() - 1
    }

    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    pub fn offset(&self, id: usize) -> u32 {
        self.offsets[id]
    }

    pub fn expr(&mut self, offset: u32, kind: ExprKind) -> Expr {
        Expr { id: self.id(offset), kind }
    }
}

struct Parser<'s> {
    tokens: Vec<Token<'s>>,
    at: usize,
    nodes: Nodes,
    issues: Vec<Issue>,
    macros: Macros,
    /// Expressions open at this moment.
    depth: usize,
    /// Operators and selections open at this moment, each of which nests the tree.
    chained: usize,
}

impl<'s> Parser<'s> {
    fn peek(&self) -> Token<'s> {
        self.tokens[self.at]
    }

    fn next(&mut self) -> Token<'s> {
        let token = self.tokens[self.at];
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    fn take(&mut self, symbol: &str) -> Option<Token<'s>> {
        self.peek().is(symbol).then(|| self.next())
    }

    fn syntax<T>(&mut self, token: Token<'_>, message: &str) -> Parsed<T> {
        self.issues.push(Issue { offset: Some(token.offset), message: format!("Syntax error: {message}") });
        Err(Stop)
    }

    fn mismatched<T>(&mut self, expecting: &str) -> Parsed<T> {
        let token = self.peek();
        self.syntax(token, &format!("mismatched input '{}' expecting {expecting}", token.shown()))
    }

    /// Wrong, but in a way that does not confuse the rest.
    fn report(&mut self, offset: u32, message: String) -> Expr {
        self.issues.push(Issue { offset: Some(offset), message });
        self.nodes.expr(offset, ExprKind::Unspecified)
    }

    fn expect(&mut self, symbol: &str) -> Parsed<Token<'s>> {
        match self.take(symbol) {
            Some(token) => Ok(token),
            None if self.peek().kind == Kind::End => {
                let token = self.peek();
                self.syntax(token, &format!("missing '{symbol}' at '<EOF>'"))
            }
            None => self.mismatched(&format!("'{symbol}'")),
        }
    }

    fn too_deep<T>(&mut self) -> Parsed<T> {
        let message = format!("expression recursion limit exceeded: {MAX_DEPTH}");
        self.issues.push(Issue { offset: None, message });
        Err(Stop)
    }

    fn chain(&mut self) -> Parsed<()> {
        self.chained += 1;
        if self.chained > MAX_DEPTH { self.too_deep() } else { Ok(()) }
    }

    fn parse_start(&mut self) -> Parsed<Expr> {
        let expr = self.parse_expr()?;
        let token = self.peek();
        if token.kind == Kind::End {
            return if fits(&expr, MAX_TREE_DEPTH) { Ok(expr) } else { self.too_deep() };
        }
        let last = self.tokens.get(self.at + 1).is_none_or(|next| next.kind == Kind::End);
        let word = if last { "extraneous" } else { "mismatched" };
        self.syntax(token, &format!("{word} input '{}' expecting <EOF>", token.shown()))
    }

    fn parse_expr(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.too_deep();
        }
        let condition = self.parse_logic()?;
        let expr = match self.take("?") {
            None => condition,
            Some(op) => {
                let id = self.nodes.id(op.offset);
                let yes = self.parse_logic()?;
                self.expect(":")?;
                let no = self.parse_expr()?;
                call(id, "_?_:_", vec![condition, yes, no])
            }
        };
        self.depth -= 1;
        Ok(expr)
    }

    /// `a || b && c`. A chain of one operator becomes a balanced tree, so that a long one
    /// does not nest deeply.
    fn parse_logic(&mut self) -> Parsed<Expr> {
        let (mut alternatives, mut ors) = (Vec::new(), Vec::new());
        loop {
            let (mut terms, mut ands) = (Vec::new(), Vec::new());
            loop {
                terms.push(self.parse_relation(0)?);
                let Some(op) = self.take("&&") else { break };
                ands.push(self.nodes.id(op.offset));
            }
            alternatives.push(balance("_&&_", &mut terms.into_iter(), &ands));
            let Some(op) = self.take("||") else { break };
            ors.push(self.nodes.id(op.offset));
        }
        Ok(balance("_||_", &mut alternatives.into_iter(), &ors))
    }

    /// The left-associative operators, by climbing: relations bind looser than sums, sums
    /// looser than products.
    fn parse_relation(&mut self, lowest: u8) -> Parsed<Expr> {
        let chained = self.chained;
        let mut left = self.parse_unary()?;
        while let Some((level, function)) = binary(self.peek()).filter(|(level, _)| *level >= lowest) {
            self.chain()?;
            let op = self.next();
            let id = self.nodes.id(op.offset);
            let right = self.parse_relation(level + 1)?;
            left = call(id, function, vec![left, right]);
        }
        self.chained = chained;
        Ok(left)
    }

    fn parse_unary(&mut self) -> Parsed<Expr> {
        let first = self.peek();
        let function = match first.text {
            "!" if first.kind == Kind::Symbol => "!_",
            "-" if first.kind == Kind::Symbol && !self.starts_negative_literal() => "-_",
            _ => return self.parse_member(),
        };
        let mut count = 0;
        while self.peek().is(first.text) && !(function == "-_" && self.starts_negative_literal()) {
            self.next();
            count += 1;
        }
        let operand = self.parse_member()?;
        if count % 2 == 0 {
            return Ok(operand);
        }
        let id = self.nodes.id(first.offset);
        Ok(call(id, function, vec![operand]))
    }

    /// A sign directly before a number belongs to it: there is no other way to write the
    /// smallest integer.
    fn starts_negative_literal(&self) -> bool {
        self.peek().is("-")
            && self.tokens.get(self.at + 1).is_some_and(|next| matches!(next.kind, Kind::Int | Kind::Float))
    }

    fn parse_member(&mut self) -> Parsed<Expr> {
        let chained = self.chained;
        let mut expr = self.parse_primary()?;
        loop {
            let token = self.peek();
            if token.is(".") {
                self.chain()?;
                self.next();
                expr = self.parse_selection(expr, token)?;
            } else if token.is("[") {
                self.chain()?;
                self.next();
                let id = self.nodes.id(token.offset);
                let function = if self.take("?").is_some() { "_[?_]" } else { "_[_]" };
                let index = self.parse_expr()?;
                self.expect("]")?;
                expr = call(id, function, vec![expr, index]);
            } else {
                self.chained = chained;
                return Ok(expr);
            }
        }
    }

    fn parse_selection(&mut self, operand: Expr, dot: Token<'s>) -> Parsed<Expr> {
        let optional = self.take("?").is_some();
        let name = self.peek();
        if name.kind == Kind::QuotedIdent {
            self.next();
            return Ok(self.report(name.offset, "unsupported syntax: '`'".into()));
        }
        if name.kind != Kind::Ident {
            if optional || matches!(name.text, "true" | "false" | "null") {
                return self.mismatched("IDENTIFIER");
            }
            return self.syntax(name, &format!("no viable alternative at input '.{}'", name.text));
        }
        self.next();
        if optional {
            let id = self.nodes.id(dot.offset);
            let field = self.nodes.expr(name.offset, ExprKind::Literal(Literal::String(Arc::from(name.text))));
            return Ok(call(id, "_?._", vec![operand, field]));
        }
        if let Some(open) = self.take("(") {
            let id = self.nodes.id(open.offset);
            let args = self.parse_args()?;
            return Ok(self.expand(id, name.text, Some(operand), args));
        }
        let kind = ExprKind::Select { operand: Box::new(operand), field: name.text.into(), test_only: false };
        Ok(self.nodes.expr(dot.offset, kind))
    }

    /// The arguments of a call, up to and with the closing parenthesis.
    fn parse_args(&mut self) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        if self.take(")").is_some() {
            return Ok(args);
        }
        loop {
            args.push(self.parse_expr()?);
            if self.take(",").is_none() {
                self.expect(")")?;
                return Ok(args);
            }
        }
    }

    fn expand(&mut self, id: usize, function: &str, target: Option<Expr>, args: Vec<Expr>) -> Expr {
        match macros::expand(&mut self.nodes, self.macros, id, function, target, args) {
            Ok(expr) => expr,
            Err((offset, message)) => self.report(offset, message),
        }
    }

    fn parse_primary(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        match token.kind {
            Kind::Ident => self.parse_name(),
            Kind::Int | Kind::Uint | Kind::Float | Kind::String | Kind::Bytes => {
                self.next();
                Ok(self.literal(token, token, false))
            }
            Kind::Symbol => match token.text {
                "." => self.parse_name(),
                "(" => {
                    self.next();
                    let expr = self.parse_expr()?;
                    self.expect(")")?;
                    Ok(expr)
                }
                "[" => self.parse_list(),
                "{" => self.parse_map(),
                "-" => {
                    self.next();
                    let number = self.next();
                    Ok(self.literal(token, number, true))
                }
                "true" | "false" | "null" => {
                    self.next();
                    let literal = match token.text {
                        "null" => Literal::Null,
                        word => Literal::Bool(word == "true"),
                    };
                    Ok(self.nodes.expr(token.offset, ExprKind::Literal(literal)))
                }
                _ => self.mismatched(OPERAND),
            },
            Kind::QuotedIdent | Kind::End => self.mismatched(OPERAND),
        }
    }

    /// A variable, a call or the construction of a struct.
    fn parse_name(&mut self) -> Parsed<Expr> {
        let dot = self.take(".").is_some();
        let name = self.peek();
        if name.kind != Kind::Ident {
            return self.mismatched("IDENTIFIER");
        }
        if let Some(end) = self.struct_name_end() {
            return self.parse_struct(dot, end);
        }
        self.next();
        let reserved = RESERVED.contains(&name.text);
        let full = if dot { format!(".{}", name.text) } else { name.text.to_owned() };
        if let Some(open) = self.take("(") {
            let id = self.nodes.id(open.offset);
            let args = self.parse_args()?;
            if reserved {
                return Ok(self.report(name.offset, format!("reserved identifier: {}", name.text)));
            }
            return Ok(self.expand(id, &full, None, args));
        }
        if reserved {
            return Ok(self.report(name.offset, format!("reserved identifier: {}", name.text)));
        }
        Ok(self.nodes.expr(name.offset, ExprKind::Ident(full)))
    }

    /// Where `a.b.c {` has its brace, if it has one.
    fn struct_name_end(&self) -> Option<usize> {
        let mut at = self.at + 1;
        while self.tokens[at].is(".") && self.tokens[at + 1].kind == Kind::Ident {
            at += 2;
        }
        self.tokens[at].is("{").then_some(at)
    }

    fn parse_struct(&mut self, dot: bool, brace: usize) -> Parsed<Expr> {
        let mut type_name = if dot { ".".to_owned() } else { String::new() };
        while self.at < brace {
            type_name.push_str(self.next().text);
        }
        let open = self.next();
        let id = self.nodes.id(open.offset);
        let mut fields = Vec::new();
        while self.take("}").is_none() {
            let optional = self.take("?").is_some();
            let name = self.peek();
            if name.kind == Kind::QuotedIdent {
                self.report(name.offset, "unsupported syntax: '`'".into());
            } else if name.kind != Kind::Ident {
                return self.mismatched("{'}', ',', '?', IDENTIFIER}");
            }
            self.next();
            let colon = self.expect(":")?;
            let field = self.nodes.id(colon.offset);
            let value = self.parse_expr()?;
            fields.push(StructField { id: field, name: name.text.into(), value, optional });
            self.end_of_item("}")?;
        }
        Ok(Expr { id, kind: ExprKind::Struct { type_name, fields } })
    }

    /// A comma, or the closing bracket, which is left to be taken.
    fn end_of_item(&mut self, close: &str) -> Parsed<()> {
        if self.take(",").is_some() || self.peek().is(close) { Ok(()) } else { self.expect(close).map(|_| ()) }
    }

    fn parse_list(&mut self) -> Parsed<Expr> {
        let open = self.next();
        let id = self.nodes.id(open.offset);
        let (mut elements, mut optional) = (Vec::new(), Vec::new());
        while self.take("]").is_none() {
            if self.take("?").is_some() {
                optional.push(elements.len());
            }
            elements.push(self.parse_expr()?);
            self.end_of_item("]")?;
        }
        Ok(Expr { id, kind: ExprKind::List { elements, optional } })
    }

    fn parse_map(&mut self) -> Parsed<Expr> {
        let open = self.next();
        let id = self.nodes.id(open.offset);
        let mut entries = Vec::new();
        while self.take("}").is_none() {
            let optional = self.take("?").is_some();
            let key = self.parse_expr()?;
            self.expect(":")?;
            let value = self.parse_expr()?;
            entries.push(MapEntry { key, value, optional });
            self.end_of_item("}")?;
        }
        Ok(Expr { id, kind: ExprKind::Map { entries } })
    }

    fn literal(&mut self, start: Token<'_>, token: Token<'_>, negative: bool) -> Expr {
        let sign = if negative { "-" } else { "" };
        let read = match token.kind {
            Kind::Int => {
                let (radix, digits) = radix(token.text);
                i64::from_str_radix(&format!("{sign}{digits}"), radix)
                    .map(Literal::Int)
                    .map_err(|_| "invalid int literal")
            }
            Kind::Uint => {
                let (radix, digits) = radix(&token.text[..token.text.len() - 1]);
                u64::from_str_radix(digits, radix).map(Literal::Uint).map_err(|_| "invalid uint literal")
            }
            Kind::Float => match format!("{sign}{}", token.text).parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Literal::Double(number)),
                _ => Err("invalid double literal"),
            },
            Kind::Bytes => unquote(&token.text[1..], true).map(|bytes| Literal::Bytes(bytes.into())),
            _ => unquote(token.text, false)
                .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "unable to unescape string"))
                .map(|text| Literal::String(text.into())),
        };
        match read {
            Ok(literal) => self.nodes.expr(start.offset, ExprKind::Literal(literal)),
            Err(message) => self.report(start.offset, message.into()),
        }
    }
}

fn radix(digits: &str) -> (u32, &str) {
    digits.strip_prefix("0x").map_or((10, digits), |hex| (16, hex))
}

fn call(id: usize, function: &str, args: Vec<Expr>) -> Expr {
    Expr { id, kind: ExprKind::Call { function: function.into(), target: None, args } }
}

fn binary(token: Token<'_>) -> Option<(u8, &'static str)> {
    if token.kind != Kind::Symbol {
        return None;
    }
    Some(match token.text {
        "<" => (0, "_<_"),
        "<=" => (0, "_<=_"),
        ">" => (0, "_>_"),
        ">=" => (0, "_>=_"),
        "==" => (0, "_==_"),
        "!=" => (0, "_!=_"),
        "in" => (0, "@in"),
        "+" => (1, "_+_"),
        "-" => (1, "_-_"),
        "*" => (2, "_*_"),
        "/" => (2, "_/_"),
        "%" => (2, "_%_"),
        _ => return None,
    })
}

/// Terms in order under operators whose middle one is the root. The terms are one more
/// than the operators.
fn balance(function: &str, terms: &mut dyn Iterator<Item = Expr>, operators: &[usize]) -> Expr {
    if operators.is_empty() {
        return terms.next().expect("there is one more term than operators");
    }
    let middle = operators.len() / 2;
    let left = balance(function, terms, &operators[..middle]);
    let right = balance(function, terms, &operators[middle + 1..]);
    call(operators[middle], function, vec![left, right])
}

fn fits(expr: &Expr, depth: usize) -> bool {
    let mut fit = depth > 0;
    if fit {
        expr.children(&mut |child| fit = fit && fits(child, depth - 1));
    }
    fit
}

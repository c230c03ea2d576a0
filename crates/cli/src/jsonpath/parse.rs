//! A JSONPath template as a tree. `mod.rs` calls `template`.

/// One step of an expression, or text between expressions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Text(String),
    /// An expression in braces.
    List(Vec<Node>),
    /// `range PATH … end`, with what stands between.
    Range(Vec<Node>, Vec<Node>),
    Field(String),
    /// `[start:end:step]`; a single index ends right behind itself.
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: Option<i64>,
        is_index: bool,
    },
    Union(Vec<Vec<Node>>),
    Filter {
        left: Vec<Node>,
        operator: String,
        right: Vec<Node>,
    },
    Wildcard,
    Recursive,
    /// `$`
    Root,
    /// A number, text or boolean that a filter compares with.
    Literal(serde_json::Value),
}

pub(crate) fn template(text: &str) -> Result<Vec<Node>, String> {
    let chars: Vec<char> = text.chars().collect();
    let mut parser = Parser { chars: &chars, at: 0 };
    let nodes = parser.until_end(false)?;
    Ok(nodes)
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    /// Text and expressions, up to the end of the template or, inside a range, `{end}`.
    fn until_end(&mut self, in_range: bool) -> Result<Vec<Node>, String> {
        let mut nodes = Vec::new();
        let mut text = String::new();
        loop {
            match self.next() {
                None if in_range => return Err("unterminated range, expected {end}".into()),
                None | Some('{') if !text.is_empty() => {
                    nodes.push(Node::Text(std::mem::take(&mut text)));
                    if self.at >= self.chars.len() && self.chars.last() != Some(&'{') {
                        return Ok(nodes);
                    }
                    match self.action(in_range)? {
                        Some(node) => nodes.push(node),
                        None => return Ok(nodes),
                    }
                }
                None => return Ok(nodes),
                Some('{') => match self.action(in_range)? {
                    Some(node) => nodes.push(node),
                    None => return Ok(nodes),
                },
                Some(c) => text.push(c),
            }
        }
    }

    /// The content of braces; `None` is the end of the range that is open.
    fn action(&mut self, in_range: bool) -> Result<Option<Node>, String> {
        let path = self.steps(&['}'], "unclosed action")?;
        self.next();
        match path.first() {
            Some(Node::Field(name)) if name == "\0end" => {
                if in_range {
                    Ok(None)
                } else {
                    Err("not in range, nothing to end".into())
                }
            }
            Some(Node::Field(name)) if name == "\0range" => {
                let body = self.until_end(true)?;
                Ok(Some(Node::Range(path[1..].to_vec(), body)))
            }
            _ => Ok(Some(Node::List(path))),
        }
    }

    /// The steps of a path up to one of `ends`, which is left to be read.
    fn steps(&mut self, ends: &[char], unclosed: &str) -> Result<Vec<Node>, String> {
        let mut nodes = Vec::new();
        loop {
            let Some(c) = self.peek() else { return Err(unclosed.to_owned()) };
            if ends.contains(&c) {
                return Ok(nodes);
            }
            self.at += 1;
            match c {
                ' ' | '\t' | '\n' | '\r' => {}
                '@' => {}
                '$' => nodes.push(Node::Root),
                '*' => nodes.push(Node::Wildcard),
                '.' => match self.peek() {
                    Some('.') => {
                        self.at += 1;
                        nodes.push(Node::Recursive);
                        self.field(&mut nodes);
                    }
                    Some('*') => {
                        self.at += 1;
                        nodes.push(Node::Wildcard);
                    }
                    _ => self.field(&mut nodes),
                },
                '[' => nodes.push(self.bracket()?),
                '"' | '\'' => {
                    let text = self.quoted(c)?;
                    nodes.push(Node::Text(text));
                }
                '+' | '-' | '0'..='9' => {
                    self.at -= 1;
                    nodes.push(self.number()?);
                }
                _ => {
                    self.at -= 1;
                    self.identifier(&mut nodes)?;
                }
            }
        }
    }

    /// A name behind a dot; nothing there is the object itself.
    fn field(&mut self, nodes: &mut Vec<Node>) {
        let name = self.name();
        if !name.is_empty() {
            nodes.push(Node::Field(name));
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek() {
            match c {
                '\\' => {
                    self.at += 1;
                    name.extend(self.next());
                }
                '.' | '[' | ']' | '{' | '}' | ' ' | '\t' | '\n' | '\r' | '(' | ')' | ',' | '|' | '@' | '=' | '<'
                | '>' | '!' | '*' => break,
                c => {
                    self.at += 1;
                    name.push(c);
                }
            }
        }
        name
    }

    fn identifier(&mut self, nodes: &mut Vec<Node>) -> Result<(), String> {
        let name = self.name();
        match name.as_str() {
            "" => Err(format!("unrecognized character in action: {:?}", self.peek().unwrap_or_default())),
            "range" => {
                nodes.push(Node::Field("\0range".into()));
                Ok(())
            }
            "end" => {
                nodes.push(Node::Field("\0end".into()));
                Ok(())
            }
            "true" | "false" => {
                nodes.push(Node::Literal((name == "true").into()));
                Ok(())
            }
            // kubectl reads a bare first name as a field.
            _ if nodes.is_empty() => {
                nodes.push(Node::Field(name));
                Ok(())
            }
            _ => Err(format!("unrecognized identifier {name}")),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err("unterminated quoted string".into()),
                Some('\\') => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(c) => text.push(c),
                    None => return Err("unterminated quoted string".into()),
                },
                Some(c) if c == quote => return Ok(text),
                Some(c) => text.push(c),
            }
        }
    }

    fn number(&mut self) -> Result<Node, String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')) {
            self.at += 1;
        }
        let text: String = self.chars[start..self.at].iter().collect();
        let value = match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(integer), _) => serde_json::Value::from(integer),
            (_, Ok(float)) => serde_json::Value::from(float),
            _ => return Err(format!("cannot parse number {text}")),
        };
        Ok(Node::Literal(value))
    }

    /// Behind `[`: an index, a slice, a union, quoted names or a filter.
    fn bracket(&mut self) -> Result<Node, String> {
        if self.peek() == Some('?') {
            self.at += 1;
            return self.filter();
        }
        let inside = self.inside_brackets()?;
        let parts = split_outside_quotes(&inside);
        if parts.len() > 1 {
            let members: Result<Vec<Vec<Node>>, String> =
                parts.iter().map(|part| Ok(vec![bracket_member(part.trim())?])).collect();
            return Ok(Node::Union(members?));
        }
        bracket_member(inside.trim())
    }

    fn inside_brackets(&mut self) -> Result<String, String> {
        let mut inside = String::new();
        let mut quote = None;
        loop {
            match (self.next(), quote) {
                (None, _) | (Some('}'), None) => return Err("unterminated array".into()),
                (Some('\\'), Some(_)) => {
                    inside.push('\\');
                    inside.extend(self.next());
                }
                (Some(c), Some(open)) => {
                    if c == open {
                        quote = None;
                    }
                    inside.push(c);
                }
                (Some(']'), None) => return Ok(inside),
                (Some(c), None) => {
                    if matches!(c, '\'' | '"') {
                        quote = Some(c);
                    }
                    inside.push(c);
                }
            }
        }
    }

    /// Behind `[?`: `(LEFT OP RIGHT)]` or `(LEFT)]`.
    fn filter(&mut self) -> Result<Node, String> {
        if self.next() != Some('(') {
            return Err("unrecognized character in filter, expected (".into());
        }
        let left = self.steps(&['=', '!', '<', '>', ')'], "unterminated filter")?;
        let mut operator = String::new();
        while let Some(c) = self.peek().filter(|c| matches!(c, '=' | '!' | '<' | '>')) {
            operator.push(c);
            self.at += 1;
        }
        let right = self.steps(&[')'], "unterminated filter")?;
        self.next();
        if self.next() != Some(']') {
            return Err("unclosed array expect ]".into());
        }
        match operator.as_str() {
            "" => Ok(Node::Filter { left, operator: "exists".into(), right }),
            "==" | "!=" | "<" | "<=" | ">" | ">=" => Ok(Node::Filter { left, operator, right }),
            other => Err(format!("unrecognized filter operator {other}")),
        }
    }
}

fn split_outside_quotes(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match quote {
            None if c == ',' => {
                parts.push(String::new());
                continue;
            }
            None if matches!(c, '\'' | '"') => quote = Some(c),
            Some(open) if c == open => quote = None,
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

fn bracket_member(text: &str) -> Result<Node, String> {
    if text == "*" {
        return Ok(Node::Wildcard);
    }
    for quote in ['\'', '"'] {
        if let Some(name) = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)) {
            return Ok(Node::Field(name.replace("\\", "")));
        }
    }
    let number = |part: &str| match part {
        "" => Ok(None),
        part => part.trim().parse::<i64>().map(Some).map_err(|_| format!("array index {part} is not a number")),
    };
    let parts: Vec<&str> = text.split(':').collect();
    match parts[..] {
        [index] if !index.is_empty() => match number(index) {
            Ok(start) => Ok(Node::Slice { start, end: None, step: None, is_index: true }),
            Err(_) => Err(format!("invalid array index {index}")),
        },
        [start, end] => Ok(Node::Slice { start: number(start)?, end: number(end)?, step: None, is_index: false }),
        [start, end, step] => {
            Ok(Node::Slice { start: number(start)?, end: number(end)?, step: number(step)?, is_index: false })
        }
        _ => Err(format!("invalid array index {text}")),
    }
}

//! The text of an expression, its positions, and how an error is shown under it. The
//! layout is cel-go's, because clients print and compare it:
//!
//! ```text
//! ERROR: <input>:1:8: undefined field 'x'
//!  | object.x
//!  | .......^
//! ```

use std::fmt;
use std::sync::Arc;

/// What cel-go calls an expression that has no file name.
const DESCRIPTION: &str = "<input>";

/// Longer lines are not repeated under the message.
const MAX_SNIPPET: usize = 16384;

/// Errors beyond these are only counted.
const MAX_SHOWN: usize = 100;

#[derive(Clone, Debug)]
pub struct Source {
    text: Arc<str>,
}

/// A place in the source, counted in characters from the start; `None` is "nowhere", for
/// errors about the expression as a whole.
pub(crate) type Offset = Option<u32>;

impl Source {
    pub fn new(text: &str) -> Self {
        Self { text: Arc::from(text) }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line from 1, column from 0.
    fn position(&self, offset: u32) -> (usize, usize) {
        let (mut line, mut column) = (1, 0);
        for character in self.text.chars().take(offset as usize) {
            if character == '\n' {
                line += 1;
                column = 0;
            } else {
                column += 1;
            }
        }
        (line, column)
    }
}

/// One complaint about an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    pub(crate) offset: Offset,
    pub message: String,
}

/// Everything wrong with an expression, in the order of its text.
#[derive(Clone, Debug)]
pub struct CompileErrors {
    pub(crate) source: Source,
    pub stage: Stage,
    pub issues: Vec<Issue>,
}

/// How far an expression came. Upstream says "compilation failed" of the one and "program
/// instantiation failed" of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It does not parse or check.
    Compile,
    /// It checks, but a constant in it can only fail. The one issue has no place.
    Instantiate,
}

impl CompileErrors {
    pub(crate) fn new(source: Source, mut issues: Vec<Issue>) -> Self {
        issues.sort_by_key(|issue| issue.offset);
        Self { source, stage: Stage::Compile, issues }
    }

    pub(crate) fn instantiation(source: Source, message: impl fmt::Display) -> Self {
        let issues = vec![Issue { offset: None, message: message.to_string() }];
        Self { source, stage: Stage::Instantiate, issues }
    }

    fn render(&self, f: &mut fmt::Formatter<'_>, issue: &Issue) -> fmt::Result {
        if self.stage == Stage::Instantiate {
            return f.write_str(&issue.message);
        }
        let Some(offset) = issue.offset else {
            return write!(f, "ERROR: {DESCRIPTION}:-1:0: {}", issue.message);
        };
        let (line, column) = self.source.position(offset);
        write!(f, "ERROR: {DESCRIPTION}:{line}:{}: {}", column + 1, issue.message)?;
        let Some(snippet) = self.source.text().split('\n').nth(line - 1).filter(|text| text.len() <= MAX_SNIPPET)
        else {
            return Ok(());
        };
        let snippet = snippet.replace('\t', " ");
        write!(f, "\n | {snippet}\n | ")?;
        let mut characters = snippet.chars();
        for character in characters.by_ref().take(column) {
            f.write_str(if character.is_ascii() { "." } else { "\u{ff0e}" })?;
        }
        match characters.next() {
            Some(character) if !character.is_ascii() => f.write_str("\u{ff3e}"),
            _ => f.write_str("^"),
        }
    }
}

impl fmt::Display for CompileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, issue) in self.issues.iter().take(MAX_SHOWN).enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            self.render(f, issue)?;
        }
        match self.issues.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n{more} more errors were truncated"),
        }
    }
}

impl std::error::Error for CompileErrors {}

//! The macros: calls that the parser replaces by other expressions. Their expansions are
//! cel-go's, node by node, because the cost of a rule counts the nodes.

use crate::ast::{ACCUMULATOR, Comprehension, Expr, ExprKind, Literal, MapEntry, StructField, UNUSED};
use crate::parser::{Macros, Nodes};

/// The call, or what it expands to; an error names the offset it is about.
pub(crate) fn expand(
    nodes: &mut Nodes,
    enabled: Macros,
    id: usize,
    function: &str,
    target: Option<Expr>,
    mut args: Vec<Expr>,
) -> Result<Expr, (u32, String)> {
    let offset = nodes.offset(id);
    let mut build = Builder { nodes, offset };
    let plain = |target: Option<Expr>, args| {
        let kind = ExprKind::Call { function: function.into(), target: target.map(Box::new), args };
        Ok(Expr { id, kind })
    };
    let Some(target) = target else {
        if function != "has" || args.len() != 1 {
            return plain(None, args);
        }
        let argument = args.remove(0);
        return match argument.kind {
            ExprKind::Select { operand, field, .. } => {
                Ok(build.expr(ExprKind::Select { operand, field, test_only: true }))
            }
            _ => Err((build.nodes.offset(argument.id), "invalid argument to has() macro".into())),
        };
    };
    match (function, args.len()) {
        ("all" | "exists" | "exists_one" | "existsOne", 2) => {
            let name = build.iteration(&args[0], "argument must be a simple name")?;
            let predicate = args.remove(1);
            Ok(build.quantifier(function, target, name, None, predicate))
        }
        ("all" | "exists" | "exists_one" | "existsOne", 3) if enabled.two_variables => {
            let (first, second) = build.iterations(&args)?;
            let predicate = args.remove(2);
            Ok(build.quantifier(function, target, first, Some(second), predicate))
        }
        ("map", 2 | 3) => {
            let name = build.iteration(&args[0], "argument is not an identifier")?;
            let transform = args.pop().expect("map has at least two arguments");
            let filter = (args.len() == 2).then(|| args.remove(1));
            Ok(build.collect(target, name, None, filter, transform))
        }
        ("filter", 2) => {
            let name = build.iteration(&args[0], "argument is not an identifier")?;
            let predicate = args.remove(1);
            let element = args.remove(0);
            Ok(build.collect(target, name, None, Some(predicate), element))
        }
        ("transformList", 3 | 4) if enabled.two_variables => {
            let (first, second) = build.iterations(&args)?;
            let transform = args.pop().expect("transformList has at least three arguments");
            let filter = (args.len() == 3).then(|| args.remove(2));
            Ok(build.collect(target, first, Some(second), filter, transform))
        }
        ("transformMap" | "transformMapEntry", 3 | 4) if enabled.two_variables => {
            let (first, second) = build.iterations(&args)?;
            let transform = args.pop().expect("transformMap has at least three arguments");
            let filter = (args.len() == 3).then(|| args.remove(2));
            let mut insert = vec![build.accumulator()];
            if function == "transformMap" {
                insert.push(build.ident(&first));
            }
            insert.push(transform);
            let step = build.call("cel.@mapInsert", insert);
            Ok(build.gather(ExprKind::Map { entries: Vec::new() }, target, first, Some(second), filter, step))
        }
        ("optMap" | "optFlatMap", 2) => {
            let ExprKind::Ident(name) = &args[0].kind else {
                let message = format!("{function}() variable name must be a simple identifier");
                return Err((build.nodes.offset(args[0].id), message));
            };
            let name = name.clone();
            let body = args.remove(1);
            let copy = build.copy(&target)?;
            let has_value = build.member("hasValue", target, Vec::new());
            let value = build.member("value", copy, Vec::new());
            let mut bound = build.bind(name, value, body);
            if function == "optMap" {
                bound = build.call("optional.of", vec![bound]);
            }
            let none = build.call("optional.none", Vec::new());
            Ok(build.call("_?_:_", vec![has_value, bound, none]))
        }
        ("sortBy", 2) if enabled.sort_by => {
            let sortable = matches!(
                target.kind,
                ExprKind::List { .. }
                    | ExprKind::Select { .. }
                    | ExprKind::Ident(_)
                    | ExprKind::Comprehension(_)
                    | ExprKind::Call { .. }
            );
            if !sortable {
                let message =
                    "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
                return Err((build.nodes.offset(target.id), message.into()));
            }
            const INPUT: &str = "@__sortBy_input__";
            let name = build.iteration(&args[0], "argument is not an identifier")?;
            let key = args.remove(1);
            let input = build.ident(INPUT);
            let keys = build.collect(input, name, None, None, key);
            let input = build.ident(INPUT);
            let sorted = build.member("@sortByAssociatedKeys", input, vec![keys]);
            Ok(build.bind(INPUT.into(), target, sorted))
        }
        ("bind", 3) if enabled.bind && matches!(&target.kind, ExprKind::Ident(name) if name == "cel") => {
            let ExprKind::Ident(name) = &args[0].kind else {
                let message = "cel.bind() variable names must be simple identifiers";
                return Err((build.nodes.offset(args[0].id), message.into()));
            };
            let name = name.clone();
            let body = args.remove(2);
            let init = args.remove(1);
            Ok(build.bind(name, init, body))
        }
        _ => plain(Some(target), args),
    }
}

/// More nodes than an expression of the longest text can need by itself.
const MAX_NODES: usize = 200_000;

fn count(expr: &Expr, size: &mut usize) {
    *size += 1;
    expr.children(&mut |child| count(child, size));
}

/// Makes nodes that all stand where the macro was called.
struct Builder<'n> {
    nodes: &'n mut Nodes,
    offset: u32,
}

impl Builder<'_> {
    fn expr(&mut self, kind: ExprKind) -> Expr {
        self.nodes.expr(self.offset, kind)
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.expr(ExprKind::Ident(name.into()))
    }

    fn accumulator(&mut self) -> Expr {
        self.ident(ACCUMULATOR)
    }

    fn literal(&mut self, literal: Literal) -> Expr {
        self.expr(ExprKind::Literal(literal))
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.expr(ExprKind::Call { function: function.into(), target: None, args })
    }

    fn member(&mut self, function: &str, target: Expr, args: Vec<Expr>) -> Expr {
        self.expr(ExprKind::Call { function: function.into(), target: Some(Box::new(target)), args })
    }

    fn list(&mut self, elements: Vec<Expr>) -> Expr {
        self.expr(ExprKind::List { elements, optional: Vec::new() })
    }

    fn iteration(&self, argument: &Expr, message: &str) -> Result<String, (u32, String)> {
        let offset = self.nodes.offset(argument.id);
        match &argument.kind {
            ExprKind::Ident(name) if name == "__result__" => {
                Err((offset, "iteration variable overwrites accumulator variable".into()))
            }
            ExprKind::Ident(name) => Ok(name.clone()),
            _ => Err((offset, message.into())),
        }
    }

    fn iterations(&self, args: &[Expr]) -> Result<(String, String), (u32, String)> {
        let first = self.iteration(&args[0], "argument must be a simple name")?;
        let second = self.iteration(&args[1], "argument must be a simple name")?;
        if first == second {
            return Err((self.nodes.offset(args[1].id), format!("duplicate variable name: {first}")));
        }
        Ok((first, second))
    }

    fn quantifier(&mut self, name: &str, range: Expr, iter: String, iter2: Option<String>, predicate: Expr) -> Expr {
        let (init, condition, step, result);
        match name {
            "all" => {
                init = self.literal(Literal::Bool(true));
                let accumulator = self.accumulator();
                condition = self.call("@not_strictly_false", vec![accumulator]);
                let accumulator = self.accumulator();
                step = self.call("_&&_", vec![accumulator, predicate]);
                result = self.accumulator();
            }
            "exists" => {
                init = self.literal(Literal::Bool(false));
                let accumulator = self.accumulator();
                let not = self.call("!_", vec![accumulator]);
                condition = self.call("@not_strictly_false", vec![not]);
                let accumulator = self.accumulator();
                step = self.call("_||_", vec![accumulator, predicate]);
                result = self.accumulator();
            }
            _ => {
                init = self.literal(Literal::Int(0));
                condition = self.literal(Literal::Bool(true));
                let (count, one) = (self.accumulator(), self.literal(Literal::Int(1)));
                let more = self.call("_+_", vec![count, one]);
                let same = self.accumulator();
                step = self.call("_?_:_", vec![predicate, more, same]);
                let (count, one) = (self.accumulator(), self.literal(Literal::Int(1)));
                result = self.call("_==_", vec![count, one]);
            }
        }
        let accu = ACCUMULATOR.into();
        self.expr(ExprKind::Comprehension(Box::new(Comprehension {
            range,
            iter,
            iter2,
            accu,
            init,
            condition,
            step,
            result,
        })))
    }

    /// A list of what `transform` makes of the elements that pass `filter`.
    fn collect(
        &mut self,
        range: Expr,
        iter: String,
        iter2: Option<String>,
        filter: Option<Expr>,
        transform: Expr,
    ) -> Expr {
        let accumulator = self.accumulator();
        let element = self.list(vec![transform]);
        let step = self.call("_+_", vec![accumulator, element]);
        let init = ExprKind::List { elements: Vec::new(), optional: Vec::new() };
        self.gather(init, range, iter, iter2, filter, step)
    }

    fn gather(
        &mut self,
        init: ExprKind,
        range: Expr,
        iter: String,
        iter2: Option<String>,
        filter: Option<Expr>,
        mut step: Expr,
    ) -> Expr {
        let init = self.expr(init);
        let condition = self.literal(Literal::Bool(true));
        if let Some(filter) = filter {
            let same = self.accumulator();
            step = self.call("_?_:_", vec![filter, step, same]);
        }
        let result = self.accumulator();
        let accu = ACCUMULATOR.into();
        self.expr(ExprKind::Comprehension(Box::new(Comprehension {
            range,
            iter,
            iter2,
            accu,
            init,
            condition,
            step,
            result,
        })))
    }

    fn bind(&mut self, name: String, init: Expr, result: Expr) -> Expr {
        let range = self.list(Vec::new());
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(&name);
        self.expr(ExprKind::Comprehension(Box::new(Comprehension {
            range,
            iter: UNUSED.into(),
            iter2: None,
            accu: name,
            init,
            condition,
            step,
            result,
        })))
    }

    /// The same expression under new ids, so that each use has its own types.
    fn copy(&mut self, expr: &Expr) -> Result<Expr, (u32, String)> {
        let mut size = 0;
        count(expr, &mut size);
        // A chain of optMap doubles with each link.
        if self.nodes.len() + size > MAX_NODES {
            return Err((self.offset, format!("expression node limit exceeded: {MAX_NODES}")));
        }
        let mut copy = expr.clone();
        self.renumber(&mut copy);
        Ok(copy)
    }

    fn renumber(&mut self, expr: &mut Expr) {
        expr.id = self.nodes.id(self.nodes.offset(expr.id));
        match &mut expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => {}
            ExprKind::Select { operand, .. } => self.renumber(operand),
            ExprKind::Call { target, args, .. } => {
                target.iter_mut().for_each(|target| self.renumber(target));
                args.iter_mut().for_each(|arg| self.renumber(arg));
            }
            ExprKind::List { elements, .. } => elements.iter_mut().for_each(|element| self.renumber(element)),
            ExprKind::Map { entries } => {
                for MapEntry { key, value, .. } in entries {
                    self.renumber(key);
                    self.renumber(value);
                }
            }
            ExprKind::Struct { fields, .. } => {
                for StructField { id, value, .. } in fields {
                    *id = self.nodes.id(self.nodes.offset(*id));
                    self.renumber(value);
                }
            }
            ExprKind::Comprehension(fold) => {
                let Comprehension { range, init, condition, step, result, .. } = fold.as_mut();
                [range, init, condition, step, result].into_iter().for_each(|part| self.renumber(part));
            }
        }
    }
}

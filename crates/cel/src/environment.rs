//! What an expression may refer to: functions, variables, types. An environment is built
//! once, shared, and compiles any number of expressions.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use crate::check;
use crate::eval::plan::{self, Optimize};
use crate::library::all::{self, Library};
use crate::library::{Declarations, Function};
use crate::parser::{self, Macros};
use crate::program::Program;
use crate::source::{CompileErrors, Source};
use crate::types::{Fields, StructType, Type};

#[derive(Clone, Debug)]
pub struct Environment {
    inner: Arc<Inner>,
}

#[derive(Clone, Debug)]
struct Inner {
    declarations: Declarations,
    variables: BTreeMap<String, Type>,
    macros: Macros,
    /// Whether `Object{}` and `JSONPatch{}` can be made.
    mutation: bool,
    optimize: Optimize,
}

static BASE: LazyLock<Environment> = LazyLock::new(|| {
    let macros = Macros { two_variables: true, sort_by: true, bind: false };
    let inner = Inner {
        declarations: all::base(),
        variables: BTreeMap::new(),
        macros,
        mutation: false,
        optimize: Optimize::Constants,
    };
    Environment { inner: Arc::new(inner) }
});

impl Environment {
    /// The functions of Kubernetes 1.36 and no variables. Cheap: it is made once.
    pub fn kubernetes() -> Self {
        BASE.clone()
    }

    /// This environment with a variable more. A dotted name is one variable:
    /// `authorizer.requestResource`.
    pub fn with_variable(mut self, name: &str, declared: Type) -> Self {
        Arc::make_mut(&mut self.inner).variables.insert(name.to_owned(), declared);
        self
    }

    pub fn with_library(mut self, library: Library) -> Self {
        let inner = Arc::make_mut(&mut self.inner);
        all::extend(&mut inner.declarations, library);
        inner.macros.bind |= library == Library::Bind;
        self
    }

    /// With `Object{...}`, `Object.spec{...}` and `JSONPatch{...}`, and the functions that
    /// patches need: the environment of mutating policies.
    pub fn with_mutation_types(self) -> Self {
        let mut extended = self.with_library(Library::JsonPatch);
        Arc::make_mut(&mut extended.inner).mutation = true;
        extended
    }

    /// Without folding constants. Programs are slower and cost what upstream's cost tests,
    /// which do not fold either, say.
    pub fn without_optimization(mut self) -> Self {
        Arc::make_mut(&mut self.inner).optimize = Optimize::Nothing;
        self
    }

    pub fn variable(&self, name: &str) -> Option<&Type> {
        self.inner.variables.get(name)
    }

    /// Parses, checks and plans an expression.
    pub fn compile(&self, text: &str) -> Result<Program, CompileErrors> {
        let source = Source::new(text);
        let ast = parser::parse(&source, self.inner.macros)?;
        let checked = check::check(self, ast, &source)?;
        plan::plan(checked, source, self.inner.optimize)
    }

    pub(crate) fn function(&self, name: &str) -> Option<&Arc<Function>> {
        self.inner.declarations.functions.get(name.strip_prefix('.').unwrap_or(name))
    }

    /// A type that expressions can name, by its full name.
    pub(crate) fn named_type(&self, name: &str) -> Option<Type> {
        let found = self.inner.declarations.types.iter().find(|declared| declared.runtime_name() == name);
        found.cloned().or_else(|| self.struct_type(name).map(Type::Struct))
    }

    /// A struct that expressions can make.
    pub(crate) fn struct_type(&self, name: &str) -> Option<Arc<StructType>> {
        if !self.inner.mutation {
            return None;
        }
        match name {
            "JSONPatch" => {
                let text = ["op", "path", "from"].map(|field| (field.to_owned(), Type::String));
                let mut fields = BTreeMap::from(text);
                fields.insert("value".into(), Type::Dyn);
                Some(StructType::new(name, fields))
            }
            _ if name == "Object" || name.starts_with("Object.") => {
                Some(Arc::new(StructType { name: name.into(), fields: Fields::Any }))
            }
            _ => None,
        }
    }
}

//! The expressions of admission: match conditions of webhooks, and all that a policy says.
//! Decides what each may name and what it must yield, after upstream's
//! apiserver/pkg/admission/plugin/cel/compile.go and composition.go. The kinds compile to
//! validate, the API server's `admission/cel` compiles the same way to evaluate.

use super::{compile_detail, type_name};
use ferry_cel::{Environment, Program, StructType, Type, Variable, authorizer_type, resource_check_type};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Where an expression stands, which decides what it may name and what it must yield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    MatchCondition,
    Variable,
    Validation,
    Message,
    AuditAnnotation,
    ApplyConfiguration,
    JsonPatch,
}

impl Place {
    fn is_mutation(self) -> bool {
        matches!(self, Self::ApplyConfiguration | Self::JsonPatch)
    }

    /// Messages may not ask what users may do: they are made for whoever was refused.
    fn has_authorizer(self) -> bool {
        self != Self::Message
    }

    /// Whether a value of this type may stand here; if not, which may.
    fn check_result(self, found: &Type) -> Result<(), String> {
        let is_struct = |found: &Type, name: &str| matches!(found, Type::Struct(kind) if &*kind.name == name);
        let (fits, expected) = match self {
            Self::Variable => (true, ""),
            Self::MatchCondition | Self::Validation => (*found == Type::Bool, "bool"),
            Self::Message => (*found == Type::String, "string"),
            Self::AuditAnnotation => (matches!(found, Type::String | Type::Null), "one of [string null_type]"),
            Self::ApplyConfiguration => (is_struct(found, "Object"), "Object"),
            Self::JsonPatch => {
                let fits = matches!(found, Type::List(item) if is_struct(item, "JSONPatch"));
                (fits, "list(JSONPatch)")
            }
        };
        if fits { Ok(()) } else { Err(format!("must evaluate to {expected} but got {}", type_name(found))) }
    }
}

/// Compiles the expressions of one policy or webhook.
#[derive(Clone, Debug)]
pub struct Compiler {
    has_params: bool,
    /// The variables so far, by name; none where expressions cannot have any.
    variables: Option<BTreeMap<String, Type>>,
}

impl Compiler {
    /// Without `variables`: for match conditions, and for policies that declare none.
    pub fn plain(has_params: bool) -> Self {
        Self { has_params, variables: None }
    }

    /// With `variables`, to be declared by [`Compiler::declare`].
    pub fn composing(has_params: bool) -> Self {
        Self { has_params, variables: Some(BTreeMap::new()) }
    }

    /// The program, or the detail of the error that says why there is none.
    pub fn compile(&self, expression: &str, place: Place) -> Result<Program, String> {
        let program = self.environment(place).compile(expression).map_err(|errors| compile_detail(&errors))?;
        place.check_result(program.result_type())?;
        Ok(program)
    }

    /// Compiles a variable and lets the expressions after it name it. One that does not
    /// compile is declared as well, so that its error is told once.
    pub fn declare(&mut self, name: &str, expression: &str) -> Variable {
        let program = self.environment(Place::Variable).compile(expression);
        let declared = program.as_ref().map_or(Type::Dyn, |program| declared_type(program.result_type()));
        self.variables.get_or_insert_default().insert(name.to_owned(), declared);
        Variable { name: name.to_owned(), program }
    }

    fn environment(&self, place: Place) -> Environment {
        let base = environment(self.has_params, place.has_authorizer(), place.is_mutation());
        match &self.variables {
            None => base.clone(),
            Some(fields) => {
                let variables = StructType::new("kubernetes.variables", fields.clone());
                base.clone().with_variable("variables", Type::Struct(variables))
            }
        }
    }
}

/// The error of a variable that does not compile.
pub fn variable_detail(variable: &Variable) -> Option<String> {
    variable.program.as_ref().err().map(compile_detail)
}

/// The type under which later expressions see a variable: what only the expression itself
/// knows, such as an optional or an `Object`, is known at run time.
fn declared_type(found: &Type) -> Type {
    match found {
        Type::List(element) => Type::list(declared_type(element)),
        Type::Map(key, value) => Type::map(declared_type(key), declared_type(value)),
        Type::Struct(_) | Type::Opaque(..) | Type::Type(_) | Type::Param(_) | Type::Error => Type::Dyn,
        plain => plain.clone(),
    }
}

/// The environments without variables: every combination is made once.
fn environment(has_params: bool, has_authorizer: bool, is_mutation: bool) -> &'static Environment {
    static ALL: LazyLock<[Environment; 8]> = LazyLock::new(|| {
        std::array::from_fn(|index| {
            let mut environment = typed_environment(Type::Dyn, (index & 1 > 0).then_some(Type::Dyn));
            if index & 2 > 0 {
                environment = environment
                    .with_variable("authorizer", authorizer_type())
                    .with_variable("authorizer.requestResource", resource_check_type());
            }
            if index & 4 > 0 {
                environment = environment.with_mutation_types();
            }
            environment
        })
    });
    &ALL[usize::from(has_params) | usize::from(has_authorizer) << 1 | usize::from(is_mutation) << 2]
}

/// What expressions may name with the object and the parameters of these types: type
/// checking knows them, at run time they are anything.
fn typed_environment(object: Type, params: Option<Type>) -> Environment {
    let environment = Environment::kubernetes()
        .with_variable("object", object.clone())
        .with_variable("oldObject", object)
        .with_variable("namespaceObject", namespace_type())
        .with_variable("request", request_type());
    match params {
        Some(params) => environment.with_variable("params", params),
        None => environment,
    }
}

/// Checks expressions against the types of the objects they are about, as upstream's
/// policy/validating/typechecking.go does: the results are warnings only, so nothing is
/// asked of what an expression yields.
pub struct TypeChecker {
    environment: Environment,
    variables: BTreeMap<String, Type>,
}

impl TypeChecker {
    /// `params` is none where the policy takes no parameters.
    pub fn new(object: Type, params: Option<Type>) -> Self {
        let environment = typed_environment(object, params).with_variable("authorizer", authorizer_type());
        Self { environment, variables: BTreeMap::new() }
    }

    pub fn declare(&mut self, name: &str, expression: &str) {
        let found = self.with_variables().compile(expression);
        let declared = found.map_or(Type::Dyn, |program| declared_type(program.result_type()));
        self.variables.insert(name.to_owned(), declared);
    }

    /// What is wrong with an expression, in cel-go's words.
    pub fn check(&self, expression: &str) -> Option<String> {
        self.with_variables().compile(expression).err().map(|errors| errors.to_string())
    }

    fn with_variables(&self) -> Environment {
        let variables = StructType::new("kubernetes.variables", self.variables.clone());
        self.environment.clone().with_variable("variables", Type::Struct(variables))
    }
}

fn structure(name: &str, fields: &[(&str, Type)]) -> Type {
    let fields = fields.iter().map(|(name, kind)| ((*name).to_owned(), kind.clone())).collect();
    Type::Struct(StructType::new(name, fields))
}

/// The variable `request`. The objects are variables of their own, and a uid is of no use
/// to who is asked within the server.
fn request_type() -> Type {
    let text = Type::String;
    let kind = structure(
        "kubernetes.GroupVersionKind",
        &[("group", text.clone()), ("version", text.clone()), ("kind", text.clone())],
    );
    let resource = structure(
        "kubernetes.GroupVersionResource",
        &[("group", text.clone()), ("version", text.clone()), ("resource", text.clone())],
    );
    let user = structure(
        "kubernetes.UserInfo",
        &[
            ("username", text.clone()),
            ("uid", text.clone()),
            ("groups", Type::list(Type::String)),
            ("extra", Type::map(Type::String, Type::list(Type::String))),
        ],
    );
    structure(
        "kubernetes.AdmissionRequest",
        &[
            ("kind", kind.clone()),
            ("resource", resource.clone()),
            ("subResource", text.clone()),
            ("requestKind", kind),
            ("requestResource", resource),
            ("requestSubResource", text.clone()),
            ("name", text.clone()),
            ("namespace", text.clone()),
            ("operation", text),
            ("userInfo", user),
            ("dryRun", Type::Bool),
            ("options", Type::Dyn),
        ],
    )
}

/// The variable `namespaceObject`, which has no ownerReferences and no managedFields.
fn namespace_type() -> Type {
    let (text, texts) = (Type::String, Type::list(Type::String));
    let labels = Type::map(Type::String, Type::String);
    let condition = structure(
        "kubernetes.NamespaceCondition",
        &[
            ("status", text.clone()),
            ("type", text.clone()),
            ("lastTransitionTime", Type::Timestamp),
            ("message", text.clone()),
            ("reason", text.clone()),
        ],
    );
    let metadata = structure(
        "kubernetes.NamespaceMetadata",
        &[
            ("name", text.clone()),
            ("generateName", text.clone()),
            ("namespace", text.clone()),
            ("labels", labels.clone()),
            ("annotations", labels),
            ("UID", text.clone()),
            ("creationTimestamp", Type::Timestamp),
            ("deletionGracePeriodSeconds", Type::Int),
            ("deletionTimestamp", Type::Timestamp),
            ("generation", Type::Int),
            ("resourceVersion", text.clone()),
            ("finalizers", texts.clone()),
        ],
    );
    let status = structure("kubernetes.NamespaceStatus", &[("conditions", Type::list(condition)), ("phase", text)]);
    let spec = structure("kubernetes.NamespaceSpec", &[("finalizers", texts)]);
    structure("kubernetes.Namespace", &[("metadata", metadata), ("spec", spec), ("status", status)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, place: Place, expected: &str) {
        let found = Compiler::plain(false).compile(expression, place).err().unwrap_or_default();
        let line = found.lines().next().unwrap_or_default();
        assert_eq!(line, expected, "{expression}");
    }

    #[test]
    fn expressions_yield_what_their_place_needs() {
        check("object.spec.replicas > 1", Place::Validation, "");
        check("object.ready", Place::Validation, "must evaluate to bool but got dyn");
        check("1", Place::MatchCondition, "must evaluate to bool but got int");
        check("'a' + request.name", Place::Message, "");
        check("null", Place::AuditAnnotation, "");
        check("[1]", Place::AuditAnnotation, "must evaluate to one of [string null_type] but got list(int)");
        check("Object{spec: Object.spec{replicas: 1}}", Place::ApplyConfiguration, "");
        check("Object.spec{}", Place::ApplyConfiguration, "must evaluate to Object but got Object.spec");
        check("[JSONPatch{op: 'add', path: jsonpatch.escapeKey('a/b')}]", Place::JsonPatch, "");
        check("[]", Place::JsonPatch, "must evaluate to list(JSONPatch) but got list(dyn)");
        check("request.userInfo.groups.exists(g, g == 'x')", Place::MatchCondition, "");
        check("namespaceObject.metadata.labels['a'] == 'b'", Place::Validation, "");
    }

    #[test]
    fn expressions_name_what_their_place_has() {
        check(
            "params.x",
            Place::Validation,
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')",
        );
        check("authorizer.requestResource.check('create').allowed()", Place::Validation, "");
        check(
            "authorizer.path('/x').check('get').reason()",
            Place::Message,
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')",
        );
        check("request.uid", Place::Message, "compilation failed: ERROR: <input>:1:8: undefined field 'uid'");
        assert!(Compiler::plain(true).compile("params == null", Place::Validation).is_ok());
    }

    #[test]
    fn variables_see_those_before_them() {
        let mut compiler = Compiler::composing(false);
        assert!(variable_detail(&compiler.declare("replicas", "object.spec.replicas")).is_none());
        assert!(variable_detail(&compiler.declare("odd", "variables.replicas % 2 == 1")).is_none());
        assert!(compiler.compile("variables.odd", Place::Validation).is_ok());
        let broken = compiler.declare("broken", "variables.nope");
        let detail = variable_detail(&broken).expect("an error");
        assert!(detail.starts_with("compilation failed: ERROR: <input>:1:10: undefined field 'nope'"), "{detail}");
        assert!(compiler.compile("variables.broken == 1", Place::Validation).is_ok());
    }

    #[test]
    fn types_are_checked_where_they_are_known() {
        let object = structure("Deployment", &[("spec", structure("Deployment.spec", &[("replicas", Type::Int)]))]);
        let mut checker = TypeChecker::new(object, None);
        checker.declare("replicas", "object.spec.replicas");
        assert_eq!(checker.check("object.spec.replicas > 1"), None);
        let warning = checker.check("variables.replicas > '1'").expect("a warning");
        assert!(warning.contains("found no matching overload for '_>_' applied to '(int, string)'"), "{warning}");
    }
}

//! The types of expressions, as the checker knows them, and how messages name them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::escape::is_reserved;

/// The type of an expression or a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Known only at run time.
    Dyn,
    /// The type of something that failed to check; agrees with everything.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    /// The type of types: `type(int)` is that of the expression `int`.
    Type(Option<Arc<Type>>),
    /// A type to be found: `A` in a declaration, `_var3` while checking.
    Param(Arc<str>),
    Struct(Arc<StructType>),
    /// Known by name and parameters only: `net.IP`, `optional_type(int)`.
    Opaque(Arc<str>, Arc<[Type]>),
}

/// A type with named fields.
#[derive(Debug)]
pub struct StructType {
    pub name: Arc<str>,
    pub fields: Fields,
}

#[derive(Debug)]
pub enum Fields {
    /// Only these.
    Known(BTreeMap<String, Type>),
    /// Any name, of type dyn: `Object.spec{}` of a mutation without a schema.
    Any,
}

impl StructType {
    pub fn new(name: &str, fields: BTreeMap<String, Type>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), fields: Fields::Known(fields) })
    }

    pub fn field(&self, name: &str) -> Option<Type> {
        match &self.fields {
            Fields::Known(fields) => match fields.get(name) {
                None if is_reserved(name) => fields.get(&format!("__{name}__")).cloned(),
                found => found.cloned(),
            },
            Fields::Any => Some(Type::Dyn),
        }
    }
}

/// Structs are the same when their names are.
impl PartialEq for StructType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const OPTIONAL: &str = "optional_type";

impl Type {
    pub fn list(element: Type) -> Self {
        Type::List(Arc::new(element))
    }

    pub fn map(key: Type, value: Type) -> Self {
        Type::Map(Arc::new(key), Arc::new(value))
    }

    pub fn optional(inner: Type) -> Self {
        Type::Opaque(OPTIONAL.into(), Arc::new([inner]))
    }

    pub fn opaque(name: &str) -> Self {
        Type::Opaque(name.into(), Arc::new([]))
    }

    /// A struct without fields: the objects of the Kubernetes libraries.
    pub fn object(name: &str) -> Self {
        Type::Struct(StructType::new(name, BTreeMap::new()))
    }

    pub fn param(name: &str) -> Self {
        Type::Param(name.into())
    }

    /// The type inside an optional.
    pub fn unwrap_optional(&self) -> Option<&Type> {
        match self {
            Type::Opaque(name, params) if &**name == OPTIONAL => params.first(),
            _ => None,
        }
    }

    pub fn is_dyn(&self) -> bool {
        matches!(self, Type::Dyn)
    }

    pub(crate) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Type::Dyn | Type::Error)
    }

    /// The name of the runtime type, without parameters.
    pub fn runtime_name(&self) -> &str {
        match self {
            Type::Dyn => "dyn",
            Type::Error => "!error!",
            Type::Null => "null_type",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Double => "double",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Duration => "google.protobuf.Duration",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::List(_) => "list",
            Type::Map(..) => "map",
            Type::Type(_) => "type",
            Type::Param(name) | Type::Opaque(name, _) => name,
            Type::Struct(kind) => &kind.name,
        }
    }
}

/// As the checker's messages show a type.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Null => f.write_str("null"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::List(element) => write!(f, "list({element})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Type(Some(inner)) => write!(f, "type({inner})"),
            Type::Opaque(name, params) if !params.is_empty() => {
                write!(f, "{name}(")?;
                for (index, param) in params.iter().enumerate() {
                    write!(f, "{}{param}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
            other => f.write_str(other.runtime_name()),
        }
    }
}

/// `(int, string)` or, of a method, `int.(string)`.
pub(crate) fn signature(args: &[Type], member: bool) -> String {
    let (target, args) = if member { (args[0].to_string() + ".", &args[1..]) } else { (String::new(), args) };
    let args: Vec<String> = args.iter().map(Type::to_string).collect();
    format!("{target}({})", args.join(", "))
}

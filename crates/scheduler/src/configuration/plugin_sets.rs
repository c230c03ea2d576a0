//! The plugins of a profile by point: those of the default profile, as the configuration
//! enables, disables, weighs and orders them.

use super::read::{Mistakes, Object};
use crate::framework::{Framework, Plugin, Point, PointLists};
use ferry_api::field::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Plugins that were part of another version.
const REMOVED: [&str; 4] = ["AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"];

/// The reason for which a plugin of that name cannot be configured.
pub fn why_invalid(name: &str) -> Option<String> {
    let version = "kubescheduler.config.k8s.io/v1";
    REMOVED
        .contains(&name)
        .then(|| format!("was invalid in version {version:?} (KubeSchedulerConfiguration is version {version:?})"))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PluginSet {
    /// With the weight, 0 where none is given.
    enabled: Vec<(String, i64)>,
    disabled: BTreeSet<String>,
}

impl PluginSet {
    fn disables(&self, name: &str) -> bool {
        self.disabled.contains("*") || self.disabled.contains(name)
    }
}

/// Nothing changed of the default profile, unless read from a configuration.
#[derive(Clone, Debug, Default)]
pub struct PluginSets {
    multi_point: PluginSet,
    by_point: BTreeMap<Point, PluginSet>,
}

/// The points by their field, and by the name that upstream's errors have for them.
const POINTS: [(&str, Point, &str); 12] = [
    ("preEnqueue", Point::PreEnqueue, "PreEnqueuePlugin"),
    ("queueSort", Point::QueueSort, "QueueSortPlugin"),
    ("preFilter", Point::PreFilter, "PreFilterPlugin"),
    ("filter", Point::Filter, "FilterPlugin"),
    ("postFilter", Point::PostFilter, "PostFilterPlugin"),
    ("preScore", Point::PreScore, "PreScorePlugin"),
    ("score", Point::Score, "ScorePlugin"),
    ("reserve", Point::Reserve, "ReservePlugin"),
    ("permit", Point::Permit, "PermitPlugin"),
    ("preBind", Point::PreBind, "PreBindPlugin"),
    ("bind", Point::Bind, "BindPlugin"),
    ("postBind", Point::PostBind, "PostBindPlugin"),
];

impl PluginSets {
    pub fn read(profile: &Object<'_>, mistakes: &mut Mistakes) -> Self {
        let known: Vec<&str> = ["multiPoint"].into_iter().chain(POINTS.map(|(field, ..)| field)).collect();
        let plugins = profile.object("plugins", &known, mistakes);
        let mut read = |field: &str| {
            let set = plugins.object(field, &["enabled", "disabled"], mistakes);
            let mut out = PluginSet::default();
            for plugin in set.objects("enabled", &["name", "weight"], mistakes) {
                let name = plugin.text("name", mistakes).unwrap_or_default();
                if let Some(reason) = why_invalid(name).filter(|_| field != "multiPoint") {
                    mistakes.validation.push(Error::invalid(&plugin.path, name, reason));
                }
                out.enabled.push((name.to_owned(), plugin.number("weight", mistakes).unwrap_or(0)));
            }
            for plugin in set.objects("disabled", &["name", "weight"], mistakes) {
                out.disabled.insert(plugin.text("name", mistakes).unwrap_or_default().to_owned());
            }
            out
        };
        let multi_point = read("multiPoint");
        let by_point = POINTS.into_iter().map(|(field, point, _)| (point, read(field))).collect();
        Self { multi_point, by_point }
    }

    fn queue_sort(&self) -> PluginSet {
        self.by_point.get(&Point::QueueSort).cloned().unwrap_or_default()
    }

    pub fn has_same_queue_sort(&self, other: &Self) -> bool {
        self.queue_sort() == other.queue_sort()
    }

    pub fn queue_sort_names(&self) -> Vec<String> {
        self.queue_sort().enabled.into_iter().map(|(name, _)| name).collect()
    }

    /// The plugins that are asked wherever they decide: the default ones that are left, each in
    /// its place, and then the others (`mergePluginSet`).
    fn expand_multi_point(&self, defaults: &[(Arc<dyn Plugin>, i64)]) -> Vec<(String, i64)> {
        let mut custom = self.multi_point.enabled.clone();
        let mut out = Vec::new();
        for (plugin, weight) in defaults.iter().filter(|(plugin, _)| !self.multi_point.disables(plugin.name())) {
            match custom.iter().position(|(name, _)| name == plugin.name()) {
                Some(position) => out.push(custom.remove(position)),
                None => out.push((plugin.name().to_owned(), *weight)),
            }
        }
        out.extend(custom);
        out
    }

    /// Puts the plugins together, in upstream's order at each point: those of all points that
    /// the point names itself, the others of all points, and those that only it names.
    pub fn assemble(&self, profile: &str, plugins: Vec<(Arc<dyn Plugin>, i64)>) -> Result<Framework, String> {
        let multi_point = self.expand_multi_point(&plugins);
        let position = |name: &str| plugins.iter().position(|(plugin, _)| plugin.name() == name);
        let nothing = PluginSet::default();
        let mut lists = PointLists::new();
        for (_, point, kind) in POINTS {
            let own = self.by_point.get(&point).unwrap_or(&nothing);
            let find = |name: &str| position(name).ok_or_else(|| format!("{kind} {name:?} does not exist"));
            let has_point = |plugin: usize| point.is_in(&plugins[plugin].0.clone().points());
            let (mut overriding, mut inherited, mut list) = (Vec::new(), Vec::new(), Vec::new());
            for (name, weight) in &multi_point {
                let plugin = find(name)?;
                if !has_point(plugin) || own.disables(name) {
                    continue;
                }
                if own.enabled.iter().any(|(other, _)| other == name) {
                    overriding.push(name.as_str());
                } else if inherited.iter().any(|(other, _)| *other == plugin) {
                    return Err(format!("plugin {name:?} already registered as {kind:?}"));
                } else {
                    inherited.push((plugin, *weight));
                }
            }
            for is_overriding in [true, false] {
                for (name, weight) in &own.enabled {
                    let plugin = find(name)?;
                    if !has_point(plugin) {
                        return Err(format!("plugin {name:?} does not extend {kind} plugin"));
                    }
                    if own.enabled.iter().filter(|(other, _)| other == name).count() > 1 {
                        return Err(format!("plugin {name:?} already registered as {kind:?}"));
                    }
                    if overriding.contains(&name.as_str()) == is_overriding {
                        list.push((plugin, *weight));
                    }
                }
                if is_overriding {
                    list.append(&mut inherited);
                }
            }
            // A plugin that scores without a weight counts once.
            let weighed = list.into_iter().map(|(plugin, weight)| (plugin, if weight == 0 { 1 } else { weight }));
            lists.insert(point, weighed.collect());
        }
        let count = |point: Point| lists.get(&point).map_or(0, Vec::len);
        if count(Point::QueueSort) != 1 {
            let found = count(Point::QueueSort);
            return Err(format!(
                "only one queue sort plugin required for profile with scheduler name {profile:?}, but got {found}"
            ));
        }
        if count(Point::Bind) == 0 {
            return Err(format!("at least one bind plugin is needed for profile with scheduler name {profile:?}"));
        }
        Ok(Framework::assemble(plugins.into_iter().map(|(plugin, _)| plugin).collect(), &lists))
    }
}

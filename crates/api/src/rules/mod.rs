//! Rules of Kubernetes that two components must judge alike, each once and over the typed
//! views of [`crate::view`]. The API server, scheduler, kubelet, proxy and controllers call them.
//!
//! | file | decides | upstream |
//! |---|---|---|
//! | [`pod_requests`] | the amounts that a pod requests and is limited to | component-helpers/resource |
//! | [`qos`] | the quality of service class of a pod | pkg/apis/core/v1/helper/qos |
//! | [`toleration`] | whether tolerations cover taints, and for how long | api/core/v1/toleration.go |
//! | [`node_selector`] | whether a pod's node selector and node affinity match a node | component-helpers/scheduling/corev1/nodeaffinity |
//! | [`host_port`] | the host ports of a pod, and whether two of them conflict | kube-scheduler/framework HostPortInfo |
//! | [`label_selector`] | whether a label selector or a selector map matches labels | apimachinery/pkg/apis/meta/v1/helpers.go |
//! | [`pod`] | terminal, deleting, active, ready, available; sidecars | pkg/api/v1/pod/util.go |
//! | [`owner`] | the controller of an object | apimachinery/pkg/apis/meta/v1/controller_ref.go |
//! | [`condition`] | finding and setting conditions, and their transition time | apimachinery/pkg/api/meta/conditions.go |
//! | [`int_or_percent`] | the number that `3` or `"25%"` comes to | apimachinery/pkg/util/intstr |
//! | [`cidr`] | addresses and ranges of addresses | k8s.io/utils/net |
//! | [`cron`] | the schedules of CronJobs, and the next time that one fires | robfig/cron v3 |
//! | [`csi_volume`] | the names by which nodes report CSI volumes, and of their attachments | pkg/volume/util, pkg/volume/csi |
//! | [`duration`] | durations as Go reads and prints them | Go's time package |
//! | [`resource_claim`] | the ResourceClaims of a pod, and for whom they are reserved | dynamic-resource-allocation/resourceclaim |
//! | [`resource_name`] | native, extended and huge page resources by their name | pkg/apis/core/v1/helper/helpers.go |
//! | [`volume_match`] | which volume serves which claim, and on which node | component-helpers/storage/volume |
//! | [`key`] | the namespace and name of an object | client-go/tools/cache ObjectName |
//! | [`backoff`] | doubling pauses between retries | apimachinery/pkg/util/wait/backoff.go |
//!
//! **Invariant:** a rule reads views and returns a value. It never changes an object of
//! another's, never logs and never fails: an object that validation would have rejected
//! reads as upstream's component reads it, mostly as no match.

pub mod backoff;
pub mod cidr;
pub mod condition;
pub mod cron;
pub mod csi_volume;
pub mod duration;
pub mod host_port;
pub mod int_or_percent;
pub mod key;
pub mod label_selector;
pub mod node_selector;
pub mod owner;
pub mod pod;
pub mod pod_requests;
pub mod qos;
pub mod resource_claim;
pub mod resource_name;
pub mod toleration;
pub mod volume_match;

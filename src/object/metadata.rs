/// Fields of `metadata` that only a server writes (apimachinery `pkg/apis/meta/v1/types.go`, `ObjectMeta`): they are nobody's
/// wish, and never count as a difference.
pub const SERVER_METADATA: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

// Applies and updates objects as the API server's field manager does, without a server: the tests of `structured-merge` compare
// their own results with it. Reads one request as JSON from each line of standard input, and answers each in one line.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

type request struct {
	// The schemas of an OpenAPI v3 document for this request and those that follow; empty for those of the built-in kinds.
	Schemas *map[string]*spec.Schema `json:"schemas"`
	// "apply" or "update"; "new" asks for a new object of each kind; empty where a request only brings schemas.
	Operation string `json:"operation"`
	Manager   string `json:"manager"`
	Force     bool   `json:"force"`
	// The object as it is; null where there is none.
	Live map[string]any `json:"live"`
	// The applied configuration, or the whole object of an update.
	Object map[string]any `json:"object"`
}

type conflict struct {
	Message string `json:"message"`
	Field   string `json:"field"`
}

type answer struct {
	Object    map[string]any `json:"object,omitempty"`
	Conflicts []conflict     `json:"conflicts,omitempty"`
	Error     string         `json:"error,omitempty"`
}

type oracle struct {
	types    managedfields.TypeConverter
	managers map[schema.GroupVersionKind]*managedfields.FieldManager
}

func (o *oracle) use(schemas map[string]*spec.Schema) error {
	o.managers = map[schema.GroupVersionKind]*managedfields.FieldManager{}
	if len(schemas) == 0 {
		o.types = applyconfigurations.NewTypeConverter(scheme.Scheme)
		return nil
	}
	var err error
	o.types, err = managedfields.NewTypeConverter(schemas, false)
	return err
}

func (o *oracle) manager(kind schema.GroupVersionKind) (*managedfields.FieldManager, error) {
	if found, ok := o.managers[kind]; ok {
		return found, nil
	}
	as := asSent{}
	created, err := managedfields.NewDefaultFieldManager(o.types, as, as, as, kind, kind.GroupVersion(), "", nil)
	if err != nil {
		return nil, err
	}
	o.managers[kind] = created
	return created, nil
}

// asSent leaves objects in the version and form in which they were sent. New ones of a built-in kind are those of its Go type, so that they
// have the fields that it never leaves out.
type asSent struct{}

func (asSent) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := map[string]any{}
	if scheme.Scheme.Recognizes(kind) {
		var err error
		if object, err = newObject(kind); err != nil {
			return nil, err
		}
	}
	created := &unstructured.Unstructured{Object: object}
	created.SetGroupVersionKind(kind)
	return created, nil
}

// What a new object of the Go type of a kind is served as.
func newObject(kind schema.GroupVersionKind) (map[string]any, error) {
	object, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(object)
}

// New objects of all kinds, by apiVersion and kind.
func newObjects() answer {
	objects := map[string]any{}
	for kind := range scheme.Scheme.AllKnownTypes() {
		object, err := newObject(kind)
		if err != nil {
			// Such as options, which are no objects.
			continue
		}
		version := kind.GroupVersion().String()
		if objects[version] == nil {
			objects[version] = map[string]any{}
		}
		objects[version].(map[string]any)[kind.Kind] = object
	}
	return answer{Object: objects}
}

func (asSent) Default(runtime.Object) {}

func (asSent) Convert(_, _, _ any) error {
	return fmt.Errorf("nothing is converted into another object here")
}

func (asSent) ConvertToVersion(object runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return object, nil
}

func (asSent) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (o *oracle) write(r request) answer {
	object := &unstructured.Unstructured{Object: r.Object}
	live := &unstructured.Unstructured{Object: r.Live}
	if r.Live == nil {
		live.Object = map[string]any{"apiVersion": r.Object["apiVersion"], "kind": r.Object["kind"]}
	}
	manager, err := o.manager(object.GroupVersionKind())
	if err != nil {
		return failed(err)
	}
	var result any
	if r.Operation == "apply" {
		result, err = manager.Apply(live, object, r.Manager, r.Force)
	} else {
		result, err = manager.Update(live, object, r.Manager)
	}
	if err != nil {
		return failed(err)
	}
	return answer{Object: result.(*unstructured.Unstructured).Object}
}

func failed(err error) answer {
	status, ok := err.(apierrors.APIStatus)
	if !ok || !apierrors.IsConflict(err) {
		return answer{Error: err.Error()}
	}
	var conflicts []conflict
	for _, cause := range status.Status().Details.Causes {
		conflicts = append(conflicts, conflict{Message: cause.Message, Field: cause.Field})
	}
	return answer{Conflicts: conflicts}
}

func (o *oracle) answer(line []byte) (result answer) {
	defer func() {
		if cause := recover(); cause != nil {
			result = answer{Error: fmt.Sprintf("panic: %v", cause)}
		}
	}()
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return answer{Error: err.Error()}
	}
	if r.Schemas != nil {
		if err := o.use(*r.Schemas); err != nil {
			return answer{Error: err.Error()}
		}
	}
	switch r.Operation {
	case "":
		return answer{}
	case "new":
		return newObjects()
	}
	return o.write(r)
}

func main() {
	// client-go does not have the kinds of the servers beside the main one.
	utilruntime.Must(apiextensions.AddToScheme(scheme.Scheme))
	utilruntime.Must(apiregistration.AddToScheme(scheme.Scheme))
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	o := &oracle{}
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) == 0 || err != nil {
			return
		}
		text, err := json.Marshal(o.answer(line))
		if err != nil {
			text = []byte(`{"error":"the answer is no JSON"}`)
		}
		out.Write(append(text, '\n'))
		out.Flush()
	}
}

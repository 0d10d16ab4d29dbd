// Applies and updates objects as the API server's field manager does, without a server: the tests of `structured-merge` compare
// their own results with it. Reads one request as JSON from each line of standard input, and answers each in one line.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

type request struct {
	// The schemas of an OpenAPI v3 document for this request and those that follow; empty for those of the built-in kinds.
	Schemas *map[string]*spec.Schema `json:"schemas"`
	// "apply" or "update"; empty where a request only brings schemas.
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

func (o *oracle) manager(kind schema.GroupVersionKind) *managedfields.FieldManager {
	if found, ok := o.managers[kind]; ok {
		return found
	}
	created := managedfieldstest.NewFakeFieldManager(o.types, kind)
	o.managers[kind] = created
	return created
}

func (o *oracle) write(r request) answer {
	object := &unstructured.Unstructured{Object: r.Object}
	live := &unstructured.Unstructured{Object: r.Live}
	if r.Live == nil {
		live.Object = map[string]any{"apiVersion": r.Object["apiVersion"], "kind": r.Object["kind"]}
	}
	manager := o.manager(object.GroupVersionKind())
	var result any
	var err error
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
	if r.Operation == "" {
		return answer{}
	}
	return o.write(r)
}

func main() {
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

// Changes the document so that ogen can read it: it generates no valid Go for a stream whose answer has headers, and its
// clients refuse values that a later version of the contract may add.
package main

import (
	"encoding/json"
	"log"
	"os"
)

type object = map[string]any

// openLists lets what may grow be any text.
func openLists(node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			openLists(item)
		}
	case object:
		if node["x-may-grow"] == true {
			delete(node, "enum")
		}
		for name, member := range node {
			if schema, isSchema := member.(object); isSchema && name == "object" {
				delete(schema, "enum")
			}
			openLists(member)
		}
	}
}

func prepare(source []byte) ([]byte, error) {
	var document object
	if err := json.Unmarshal(source, &document); err != nil {
		return nil, err
	}
	post := document["paths"].(object)["/v1/chat/completions"].(object)["post"].(object)
	delete(post["responses"].(object)["200"].(object), "headers")
	openLists(document)
	return json.Marshal(document)
}

func main() {
	source, err := os.ReadFile("openapi.json")
	if err != nil {
		log.Fatal(err)
	}
	prepared, err := prepare(source)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("prepared.json", prepared, 0o644); err != nil {
		log.Fatal(err)
	}
}

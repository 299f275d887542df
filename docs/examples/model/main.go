package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	url := os.Getenv("PARLEY_URL") + "/models/vendor/model-1"
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	var model struct {
		ID      string
		OwnedBy string `json:"owned_by"`
	}
	if err := json.NewDecoder(response.Body).Decode(&model); err != nil {
		log.Fatal(err)
	}
	fmt.Println(model.ID, "of", model.OwnedBy)
}

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	url := os.Getenv("PARLEY_URL") + "/models"
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
	var models struct {
		Data []struct{ ID string }
	}
	if err := json.NewDecoder(response.Body).Decode(&models); err != nil {
		log.Fatal(err)
	}
	for _, model := range models.Data {
		fmt.Println(model.ID)
	}
}

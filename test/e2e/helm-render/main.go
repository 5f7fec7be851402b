// Renders a chart as Helm does, with Go's text/template, Sprig and YAML: main CHART < values.json. Prints {template: text}.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func main() {
	if err := render(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(folder string) error {
	values, chart, given := map[string]any{}, map[string]any{}, map[string]any{}
	if err := readYaml(filepath.Join(folder, "values.yaml"), values); err != nil {
		return err
	}
	if err := readYaml(filepath.Join(folder, "Chart.yaml"), chart); err != nil {
		return err
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	merge(values, given)

	all := template.New("chart").Option("missingkey=zero")
	funcs := sprig.TxtFuncMap()
	funcs["include"] = func(name string, data any) (string, error) {
		var out strings.Builder
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	funcs["toYaml"] = func(value any) (string, error) {
		out, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(out), "\n"), err
	}
	all.Funcs(funcs)
	files, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := all.New(filepath.Base(file)).Parse(string(text)); err != nil {
			return err
		}
	}
	data := map[string]any{
		"Values":  values,
		"Chart":   map[string]any{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
		"Release": map[string]any{"Name": "gw", "Namespace": "agents", "Service": "Helm"},
	}
	rendered := map[string]string{}
	for _, file := range files {
		var out strings.Builder
		if err := all.ExecuteTemplate(&out, filepath.Base(file), data); err != nil {
			return err
		}
		rendered[filepath.Base(file)] = out.String()
	}
	return json.NewEncoder(os.Stdout).Encode(rendered)
}

func readYaml(file string, into map[string]any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

// merge puts the values given over those of the chart, member by member.
func merge(values, given map[string]any) {
	for name, value := range given {
		below, isMap := values[name].(map[string]any)
		if over, ok := value.(map[string]any); ok && isMap {
			merge(below, over)
		} else {
			values[name] = value
		}
	}
}

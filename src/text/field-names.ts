/** Tells whether servers that ignore the case of names read a field as another one: those in Go, such as Ollama. */
export const isReadAs = (name: string, field: string): boolean =>
  name !== field && name.toUpperCase().toLowerCase() === field

/** A query string's values with the named ones as numbers; what is no number stays text, for the schema to refuse. */
export function queryNumbers(query: Record<string, string>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const isNumber = names.includes(name) && /^-?\d+(\.\d+)?$/.test(text)
      return [name, isNumber ? Number(text) : text]
    }),
  )
}

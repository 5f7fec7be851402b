/** Values that `changes` contains for `key` and its entries, dotted or inside a section. */
export function valuesFor(changes: Readonly<Record<string, unknown>>, key: string): unknown[] {
  return Object.entries(changes).flatMap(([name, value]) => {
    if (name === key || name.startsWith(`${key}.`)) return [value]
    if (!key.startsWith(`${name}.`) || typeof value !== 'object' || value === null) return []
    return valuesFor(value as Record<string, unknown>, key.slice(name.length + 1))
  })
}

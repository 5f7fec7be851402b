/** `fields` without undefined and null values. */
export function present<Fields extends object>(fields: Fields): Partial<Fields> {
  const given: Partial<Fields> = {}
  for (const name of Object.keys(fields) as (keyof Fields)[]) {
    const value = fields[name]
    if (value !== undefined && value !== null) given[name] = value
  }
  return given
}

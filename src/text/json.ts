/** Tells whether a value is a JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses `text` as JSON. Undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Tells whether a JSON value nests more than `levels` deep. */
export function isDeeper(value: unknown, levels: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    const inner: unknown[] = []
    for (const item of level)
      if (typeof item === 'object' && item !== null) for (const part of Object.values(item)) inner.push(part)
    level = inner
  }
  return false
}

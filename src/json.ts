/** What `text` holds; undefined when it is not JSON, which no JSON is. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

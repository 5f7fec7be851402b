/** The model that a form names. */
export interface FormModel {
  model: string
  /** The form with another model. All else stays byte for byte. */
  with(model: string): Buffer
}

const BOUNDARY = /\bboundary=(?:"([^"]+)"|([^;\s]+))/i
const HEADERS_END = '\r\n\r\n'
const MODEL_PART = /^content-disposition: *form-data; *name="model" *(?:\r\n|$)/im

/**
 * Finds the model in a form, such as that of a recording, among its parts alone: a file may hold any text.
 *
 * @param type its content type. Null for any other body
 */
export function formModel(bytes: Buffer, type: string): FormModel | null {
  const [, quoted, bare] = (/^multipart\/form-data\b/i.test(type) && BOUNDARY.exec(type)) || []
  const boundary = quoted ?? bare
  if (boundary === undefined) return null
  const delimiter = `--${boundary}`
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + 1)) {
    const from = at + delimiter.length + 2
    const headersEnd = bytes.indexOf(HEADERS_END, from)
    if (headersEnd === -1) return null
    const begin = headersEnd + HEADERS_END.length
    const end = bytes.indexOf(`\r\n${delimiter}`, begin)
    if (end === -1) return null
    if (MODEL_PART.test(bytes.toString('latin1', from, headersEnd)))
      return {
        model: bytes.toString('utf8', begin, end),
        with: (model) => Buffer.concat([bytes.subarray(0, begin), Buffer.from(model), bytes.subarray(end)]),
      }
    at = end
  }
  return null
}

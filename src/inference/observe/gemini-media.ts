import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'

/** A medium or document in a Gemini request. */
export interface GeminiMedium {
  /** Its type. Empty where the request states none. */
  mimeType: string
  /** True where the request has its address alone. */
  isLinked: boolean
}

/** Lists the media of a Gemini request, or of those to embed contents, also those in the results of functions. */
export function geminiMedia({ contents, content, requests }: Fields): GeminiMedium[] {
  const all = [contents, content, ...objectsOrNone(requests).map((one) => one.content)].flatMap(listOf)
  return all.flatMap(({ parts }) => listOf(parts).flatMap(mediaIn))
}

/** Google's API takes an object in place of a list with it alone. */
const listOf = (parts: unknown): Fields[] => objectsOrNone(Array.isArray(parts) ? parts : [parts])

function mediaIn({ inlineData, inline_data, fileData, file_data, ...part }: Fields): GeminiMedium[] {
  const { parts } = fieldsOrNone(part.functionResponse ?? part.function_response)
  const linked = fileData ?? file_data ?? null
  const medium = linked ?? inlineData ?? inline_data ?? null
  const inResult = parts === undefined ? [] : listOf(parts).flatMap(mediaIn)
  if (medium === null) return inResult
  const { mimeType, mime_type = mimeType } = fieldsOrNone(medium)
  return [{ mimeType: typeof mime_type === 'string' ? mime_type : '', isLinked: linked !== null }, ...inResult]
}

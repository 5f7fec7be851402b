import { tierFields } from '../../providers/tiers.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { carriedMedia } from './carried-media.ts'

/**
 * Fields of a Response's request that the cost of its answer depends on, without their content: its tier, the kinds of its
 * tools, and the media in its input.
 *
 * @param path endpoint below `/v1`
 */
export function costFields(path: string, request: unknown): Fields {
  const fields = fieldsOrNone(request)
  const { tools, web_search_options } = fields
  const kinds = new Set(objectsOrNone(tools).map(({ type }) => type))
  const media = [...carriedMedia(path, request)]
  return {
    ...tierFields(fields),
    ...((web_search_options ?? null) !== null && { web_search_options: {} }),
    tools: [...kinds].map((type) => ({ type })),
    input: [{ content: media.map((medium) => ({ type: `input_${medium}` })) }],
  }
}

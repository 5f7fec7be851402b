import { isObject, parseJson } from '../../text/json.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { COUNT_CONTENT } from '../api/gemini-endpoints.ts'
import { namedAsDocumented } from '../convert/gemini-names.ts'
import { contentFields } from '../convert/gemini-request.ts'
import { broughtSignatures } from '../convert/gemini-signatures.ts'
import { toChatFromGemini } from '../convert/gemini-to-chat.ts'
import { estimatePrompt } from '../observe/estimate.ts'
import { NOTHING } from '../observe/observe.ts'
import { readable } from '../relay/request-body.ts'
import { countOnly } from './count-only.ts'
import { unsealed, writeGemini } from './gemini-passage.ts'
import { answered, type Passage } from './passage.ts'
import { verbatimPassage } from './verbatim-passage.ts'

const ROUTE = { method: 'POST', path: COUNT_CONTENT, body: 'json', cost: 'nothing' } as const

const passed = countOnly(verbatimPassage({ route: ROUTE, target: COUNT_CONTENT, formType: null, visible: null }))
/** Spellings of the field with the request whose tokens are counted, where it is enclosed. */
const ENCLOSING = ['generateContentRequest', 'generate_content_request']

/** Passes the prompt of a Gemini request on to be counted, by an upstream that has Google's own API. */
export const contentCount: Passage = {
  ...passed,
  convert: unsealed,
  seals: (asked) => broughtSignatures(asked as Fields),
  write(writing) {
    const { request, sent } = writing
    const outer = fieldsOrNone(parseJson(request.text))
    if (!ENCLOSING.some((name) => isObject(outer[name])))
      return writeGemini(writing, 'countTokens', contentFields(request.json, false))
    // It names the model once more, which must be that of the path.
    const { model, ...body } = sent as Fields
    const enclosed = { ...body, model: `models/${String(model).replace(/^models\//, '')}` }
    const asked = { ...writing, isChanged: true, sent: { model, generateContentRequest: enclosed } }
    return writeGemini({ ...asked, converted: () => asked.sent }, 'countTokens', () => ({ model: undefined }))
  },
}

/** Estimates the prompt tokens of a Gemini request here: upstreams of chat completions cannot count them. */
export const contentEstimate = (countTokens: (text: string) => Promise<number>): Passage => ({
  ...passed,
  async answersHere({ request }) {
    const { messages, tools } = readable(() => toChatFromGemini(namedAsDocumented(request.json)))
    const totalTokens = await estimatePrompt(countTokens, { messages, ...(tools && { tools }) })
    return { kind: 'whole', status: 200, headers: {}, body: Buffer.from(JSON.stringify({ totalTokens })) }
  },
  passWhole({ receiver, bill }, { status, body }) {
    receiver.whole(status, { ...bill.headers, 'content-type': 'application/json' }, body)
    return answered(status, NOTHING)
  },
})

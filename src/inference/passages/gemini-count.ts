import { COUNT_CONTENT } from '../api/gemini-endpoints.ts'
import { namedAsDocumented } from '../convert/gemini-names.ts'
import { toChatFromGemini } from '../convert/gemini-to-chat.ts'
import { estimatePrompt } from '../observe/estimate.ts'
import { NOTHING } from '../observe/observe.ts'
import { readable } from '../relay/request-body.ts'
import { answered, type Passage } from './passage.ts'
import { verbatimPassage } from './verbatim-passage.ts'

const ROUTE = { method: 'POST', path: COUNT_CONTENT, body: 'json', cost: 'nothing' } as const

/** Estimates the prompt tokens of a Gemini request here: upstreams of chat completions cannot count them. */
export const contentEstimate = (countTokens: (text: string) => Promise<number>): Passage => ({
  ...verbatimPassage({ route: ROUTE, target: COUNT_CONTENT, formType: null, visible: null }),
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

import { COUNT_TOKENS } from '../api/endpoints.ts'
import type { MessagesRequest } from '../api/requests.ts'
import type { VerbatimPath } from '../api/verbatim-paths.ts'
import { toChatFromMessages } from '../convert/messages-to-chat.ts'
import { estimatePrompt } from '../observe/estimate.ts'
import { NOTHING } from '../observe/observe.ts'
import { readable } from '../relay/request-body.ts'
import { badReply } from '../upstreams/failure.ts'
import { countOnly } from './count-only.ts'
import { forProvider } from './message-passage.ts'
import { answered, type Passage } from './passage.ts'
import { verbatimPassage } from './verbatim-passage.ts'
import { splicedRequest } from './write-request.ts'

const ROUTE: VerbatimPath = { method: 'POST', path: COUNT_TOKENS, body: 'json', cost: 'nothing' }

/** Passes the prompt of a Messages request on to be counted, by an upstream that speaks Messages. */
export const promptPassage: Passage = {
  ...countOnly(verbatimPassage({ route: ROUTE, target: COUNT_TOKENS, formType: null, visible: null })),
  convert: forProvider,
  write: splicedRequest,
  async gather({ provider }, { exchange }) {
    exchange.abort()
    throw badReply(provider, 'its reply has no token count')
  },
}

/** Estimates the prompt tokens of a Messages request here, since the upstream cannot count them. */
export const promptEstimate = (countTokens: (text: string) => Promise<number>): Passage => ({
  ...promptPassage,
  async answersHere({ request }) {
    const { messages, tools } = readable(() => toChatFromMessages(request.json as unknown as MessagesRequest))
    const input_tokens = await estimatePrompt(countTokens, { messages, ...(tools && { tools }) })
    return { kind: 'whole', status: 200, headers: {}, body: Buffer.from(JSON.stringify({ input_tokens })) }
  },
  passWhole({ receiver, bill }, { status, body }) {
    receiver.whole(status, { ...bill.headers, 'content-type': 'application/json' }, body)
    return answered(status, NOTHING)
  },
})

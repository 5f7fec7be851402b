import { COUNT_TOKENS } from '../api/endpoints.ts'
import type { PassedPath } from '../api/passed-paths.ts'
import type { MessagesRequest } from '../api/requests.ts'
import { toChatFromMessages } from '../convert/messages-to-chat.ts'
import { estimatePrompt } from '../observe/estimate.ts'
import { NOTHING } from '../observe/observe.ts'
import { readable } from '../relay/request-body.ts'
import { badReply } from '../upstreams/failure.ts'
import { passVerbatim } from './pass-verbatim.ts'
import { answered, type Passage } from './passage.ts'

const ROUTE: PassedPath = { method: 'POST', path: COUNT_TOKENS, body: 'json', cost: 'nothing' }

/** Passes the prompt of a Messages request on to be counted, by an upstream that speaks Messages. */
export const passPrompt: Passage = {
  ...passVerbatim({ route: ROUTE, target: COUNT_TOKENS, formType: null, visible: null }),
  async gather({ provider }, { exchange }) {
    exchange.abort()
    throw badReply(provider, 'its reply has no token count')
  },
}

/** Estimates the prompt tokens of a Messages request here, since the upstream cannot count them. */
export const estimatesPrompt = (countTokens: (text: string) => Promise<number>): Passage => ({
  ...passPrompt,
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

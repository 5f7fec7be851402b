import { parseJson } from '../../text/json.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { badReply } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { Passage } from './passage.ts'
import { bodyText } from './upstream-reply.ts'

/** Largest reply that is a count, in bytes. */
const MOST_BYTES = 64 * 1024
/** Fields of answers, in all APIs. */
const OF_ANSWERS = ['content', 'choices', 'output', 'candidates']

/** Passes counts of prompts on, and no answers: counts are free, and some upstreams generate whatever they are asked. */
export const countOnly = (passage: Passage): Passage => ({
  ...passage,
  passWhole(context, reply) {
    const isAnswer = () => OF_ANSWERS.some((name) => name in fieldsOrNone(parseJson(bodyText(reply))))
    if (reply.status < 300 && (reply.body.length > MOST_BYTES || isAnswer())) throw noCount(context)
    return passage.passWhole(context, reply)
  },
  async passStream(context, reply) {
    reply.exchange.abort()
    throw noCount(context)
  },
})

const noCount = ({ provider }: { provider: Provider }) =>
  badReply(provider, 'it does not count a prompt, but answers it')

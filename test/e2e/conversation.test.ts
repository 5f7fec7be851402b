import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { connect, newPlace } from './server.ts'
import { connectStateless, STATELESS } from './stateless.ts'

describe('a conversation with the second model', () => {
  const place = newPlace()
  let upstream: double.UpstreamDouble
  let clients: Pick<Awaited<ReturnType<typeof connect>>, 'call'>[]
  let closing: (() => Promise<void>)[]

  before(async () => {
    upstream = await double.startUpstream()
    upstream.on('/responses', double.json(200, double.response('Forty-two.')))
    upstream.on('/chat/completions', double.json(200, double.completion('Six.')))
    const env = { GAZEWAY_UPSTREAM: upstream.url }
    const [one, other] = [await connect(place, { env }), await connectStateless(place, { pin: STATELESS }, { env })]
    clients = [one, other]
    closing = [() => one.client.close(), () => other.client.close()]
  })
  beforeEach(() => upstream.received.splice(0))
  after(async () => {
    await Promise.all(closing.map((close) => close()))
    await upstream.close()
  })

  /** Body of the nth request to the upstream. */
  const sent = (nth: number) =>
    (upstream.received[nth]?.body ?? assert.fail('not sent')) as { input?: unknown; messages: { content: string }[] }
  const research = (query: string, conversation_id?: string) => ({
    query,
    include_context: false,
    ...(conversation_id && { conversation_id }),
  })
  const chat = (content: string, conversation_id?: string) => ({
    messages: [{ role: 'user', content }],
    ...(conversation_id && { conversation_id }),
  })

  it('is begun with each question, and goes on in another assistant and with the other tool', async () => {
    const [one, other] = clients
    const begun = await one?.call('gateway_llm_query', research('What is it?'))
    const id = begun?.structuredContent.conversation_id
    assert.match(id, /^conv_/)
    assert.match(begun?.content[0]?.text ?? '', new RegExp(id))
    assert.equal(sent(0).input, 'What is it?')

    const continued = await other?.call('gateway_llm_query', research('Why?', id))
    assert.equal(continued?.structuredContent.conversation_id, id)
    assert.deepEqual(sent(1).input, [
      { role: 'user', content: 'What is it?' },
      { role: 'assistant', content: 'Forty-two.' },
      { role: 'user', content: 'Why?' },
    ])

    const chatted = await one?.call('gateway_chat_completion', chat('In short?', id))
    assert.equal(chatted?.structuredContent.conversation_id, id)
    const { messages, ...rest } = sent(2)
    assert.deepEqual(
      messages.map(({ content }) => content),
      ['What is it?', 'Forty-two.', 'Why?', 'Forty-two.', 'In short?'],
    )
    assert.ok(!('conversation_id' in rest), 'the id goes to no provider')
    await one?.call('gateway_llm_query', research('Sure?', id))
    assert.match(JSON.stringify(sent(3)), /In short\?.*Six\..*Sure\?/)
  })

  it('is kept only of answers, and refused where it is unknown before anything is asked', async () => {
    const [one] = clients
    const unknown = await one?.call('gateway_chat_completion', chat('Hello?', 'conv_nothing'))
    assert.equal(unknown?._meta?.error.code, 'not_found')
    assert.equal(unknown?._meta?.error.param, 'conversation_id')
    assert.equal(upstream.received.length, 0)
  })
})

import assert from 'node:assert/strict'
import { type Micros, toMicros } from '../../src/text/money.ts'
import type { CallStep } from './budget-plan.ts'

/** A gateway to call. */
export interface Addresses {
  url: string
  platform: string
}

/** Outcome of a call, with its id and cost if the reply has them. */
export interface Ended {
  as: 'answered' | 'refused' | 'cut' | 'failed' | 'gone'
  id?: string
  cost?: Micros
}

/** Sends JSON. */
export const send = (
  url: string,
  method: string,
  key: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Response> =>
  fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })

/** Makes a call, whatever becomes of it. */
export async function makeCall({ url, platform }: Addresses, key: string, step: CallStep): Promise<Ended> {
  const { endpoint, max_tokens, script } = step
  const prompt = JSON.stringify(script)
  const limit = max_tokens === null ? {} : { max_tokens }
  const leaving = new AbortController()
  try {
    if (endpoint === 'metered') {
      const call = { caller_id: key, model: 'llm-4-1-fast-reasoning', prompt, ...limit }
      return await endOf(await send(`${platform}/api/wallet/metered/call`, 'POST', key, call))
    }
    const stream = endpoint !== 'whole'
    const body = { model: 'gpt-test', messages: [{ role: 'user', content: prompt }], ...limit, stream }
    const reply = await send(`${url}/v1/chat/completions`, 'POST', key, body, leaving.signal)
    if (endpoint !== 'left' || reply.status !== 200) return await endOf(reply)
    await reply.body?.getReader().read()
    leaving.abort()
    return { as: 'gone' }
  } catch (error) {
    // The process was killed.
    if (error instanceof assert.AssertionError) throw error
    return { as: 'gone' }
  }
}

async function endOf(reply: Response): Promise<Ended> {
  const text = await reply.text()
  if (reply.status === 402) return { as: 'refused' }
  if (text.includes('budget_reached')) return { as: 'cut' }
  assert.ok([200, 422, 500, 502].includes(reply.status), `${reply.status} ${text}`)
  if (reply.status !== 200) return { as: 'failed' }
  if (text.startsWith('{')) {
    const { call_id, billing } = JSON.parse(text) as { call_id?: string; billing?: { total_usd: number } }
    const id = call_id ?? reply.headers.get('x-gazeway-call-id') ?? ''
    return { as: 'answered', id, ...costOf(billing?.total_usd ?? reply.headers.get('x-gazeway-cost-usd')) }
  }
  if (!text.includes('[DONE]')) return { as: 'failed' }
  const told = /x-gazeway-call-id=(\S+) x-gazeway-cost-usd=(\S+)/.exec(text)
  return told ? { as: 'answered', id: told[1] as string, ...costOf(told[2] ?? null) } : { as: 'answered' }
}

const costOf = (usd: string | number | null): { cost?: Micros } =>
  usd === null ? {} : { cost: toMicros(Number(usd)) as Micros }

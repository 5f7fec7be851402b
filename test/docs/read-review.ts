import { setTimeout as pass } from 'node:timers/promises'
import type { ReviewWithParts } from '../../src/review/review-record.ts'

/** The link that `gazeway review` prints. */
export const REVIEW_LINK = /http:\/\/localhost:\d+\/#\S+/

interface Opened {
  token: string
  id: string
  reviewer: string
}

/** Reads all lines of a review over its API, as long as they take, and approves it: the person of a guide. */
export async function readReview(link: string): Promise<void> {
  const { origin, hash } = new URL(link)
  const ask = async <Reply = unknown>(path: string, token: string, body?: unknown): Promise<Reply> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const content = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const reply = await fetch(`${origin}${path}`, { headers, ...content })
    if (!reply.ok) throw new Error(await reply.text())
    return (await reply.json()) as Reply
  }
  const { token, id, reviewer } = await ask<Opened>('/api/open', '', { ticket: hash.slice(1) })
  const path = `/api/reviews/${id}`
  const { parts } = await ask<ReviewWithParts>(path, token)
  for (let since = Date.now(), isRead = false; !isRead; ) {
    await pass(200)
    const now = Date.now()
    const records = parts.flatMap((part, index) => {
      const numbers = part.kind === 'hunk' ? part.rows.flatMap((row) => row.new ?? []) : []
      const env = { path: part.path, line_start: numbers[0], line_end: numbers.at(-1) }
      return [{ at: new Date(since + index).toISOString(), dwell_ms: now - since - index, source: 'ide', env }]
    })
    const reading = await ask<ReviewWithParts['reading']>(`${path}/evidence`, token, { records })
    isRead = reading.parts.every(({ seen, lines }) => seen === lines)
    since = now
  }
  await ask(`${path}/decision`, token, { reviewer, decision: 'approve' })
}

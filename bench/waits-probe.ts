import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { answerQuestions } from '../src/wire/thread-code.ts'

/** A client in a thread of its own, so that it is never itself what is waited for: asks for /health again and again. */

const EVERY_MS = 5
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let url = ''
let waits: number[] = []

async function probe(): Promise<void> {
  for (; url !== ''; await delay(EVERY_MS)) {
    const asked = performance.now()
    await new Promise<void>((resolve, reject) => {
      get(url, { agent }, (reply) => reply.resume().once('end', resolve)).once('error', reject)
    })
    waits.push(performance.now() - asked)
  }
}

/** Begins with a URL; ends with null, and answers how long each request waited, in milliseconds. */
answerQuestions(async (question: string | null) => {
  if (question !== null) {
    url = question
    waits = []
    void probe()
    return []
  }
  url = ''
  await delay(2 * EVERY_MS)
  return waits
})

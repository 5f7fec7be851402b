import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Progress } from '@modelcontextprotocol/sdk/types.js'
import { connect, newPlace, writeProject } from './server.ts'

/** Files beside the three of each place. New words take longest to index: these are ten seconds of work. */
const FILES = 40
const WORDS_PER_FILE = 43_000
const LETTERS = 26
/** The first number that is written with five letters. */
const FIVE_LETTERS = LETTERS ** 4

describe('a work context of a project whose index takes long to make', () => {
  it('tells a client that asked for progress how many files are indexed, from the third second on', async () => {
    const place = newPlace()
    writeProject(place.project, Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`${i}.txt`, newWords(i)])))
    const server = await connect(place)
    const stop = new AbortController()
    const told: Array<Progress & { after: number }> = []
    const begun = performance.now()
    const call = server.call(
      'gateway_get_context',
      { query: 'parcels' },
      {
        signal: stop.signal,
        onprogress(progress) {
          told.push({ ...progress, after: performance.now() - begun })
          if (told.length === 2) stop.abort('told twice')
        },
      },
    )
    await assert.rejects(call, /told twice/)
    assert.ok((told[0]?.after ?? 0) >= 2_000, `the first came after ${told[0]?.after} ms`)
    for (const { message } of told) assert.match(message ?? '', /^Indexing the project: \d+ of 43 files$/)
    assert.ok((told[1]?.progress ?? 0) > (told[0]?.progress ?? 0), 'progress grows')

    const { isError } = await server.call('gateway_memory_store', { key: 'color', value: 'green' })
    assert.ok(!isError, 'the server answers other calls meanwhile')
    // It would index the rest beside the tests that follow.
    await server.client.close()
  })
})

/** Words that no other file has, ten a line. */
function newWords(file: number): string {
  const numbers = Array.from({ length: WORDS_PER_FILE }, (_, i) => FIVE_LETTERS + file * WORDS_PER_FILE + i)
  return numbers.map((number, i) => inLetters(number) + (i % 10 === 9 ? '\n' : ' ')).join('')
}

function inLetters(number: number): string {
  let word = ''
  for (let rest = number; rest > 0; rest = Math.floor(rest / LETTERS))
    word += String.fromCharCode(97 + (rest % LETTERS))
  return word
}

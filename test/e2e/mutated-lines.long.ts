import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newPlace, spawnServer } from './server.ts'
import { envelope } from './stateless.ts'

const SANDBOX = { args: ['--upstream', 'sandbox'] }

describe('1,000 mutated lines', () => {
  const LINES = 1_000
  const bodies = [
    { method: 'tools/list', params: {} },
    { method: 'tools/call', params: { name: 'gateway_memory_recall', arguments: { key: 'größer/日本' } } },
    { method: 'tools/call', params: { name: 'gateway_memory_search', arguments: { query: 'a', limit: 5 } } },
    { method: 'resources/read', params: { uri: 'memory://default/a' } },
    { method: 'resources/list', params: {} },
    { method: 'prompts/list', params: {} },
    {
      method: 'completion/complete',
      params: {
        ref: { type: 'ref/resource', uri: 'memory://{namespace}/{+key}' },
        argument: { name: 'key', value: 'a' },
      },
    },
    { method: 'server/discover', params: {} },
    { method: 'ping', params: {} },
  ]

  for (const era of ['initialized', 'stateless'] as const)
    it(`lose no reply and end no server that is ${era}`, async () => {
      const server = spawnServer(newPlace(), SANDBOX)
      if (era === 'initialized') await server.initialize()
      const random = generator(era.length)
      const expected = new Set<string>()
      for (let id = 0; id < LINES; id++) {
        const { method, params } = bodies[random(bodies.length)] as (typeof bodies)[number]
        const meta = era === 'stateless' ? { _meta: envelope() } : {}
        const line = mutate(JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, ...meta } }), random)
        const asked = requestId(line)
        if (asked !== undefined) expected.add(JSON.stringify(asked))
        server.write(`${line}\n`)
        if (server.child.stdin.writableNeedDrain)
          await new Promise((resolve) => server.child.stdin.once('drain', resolve))
      }
      assert.ok(expected.size > LINES / 10, `${expected.size} lines still are requests`)
      server.send({ id: 'end', method: 'tools/list', params: era === 'stateless' ? { _meta: envelope() } : {} })
      await server.answer('end')
      server.child.stdin.end()
      assert.deepEqual(await server.exit, { code: 0, signal: null })
      server.assertProtocolOnly()
      const answered = new Set(server.messages.map(({ id }) => JSON.stringify(id)))
      assert.deepEqual(
        [...expected].filter((id) => !answered.has(id)),
        [],
      )
    })

  /** The id of what is still a request; a line that holds a batch counts by none. */
  function requestId(line: string): unknown {
    try {
      const { jsonrpc, id, method, params } = JSON.parse(line)
      const isId = typeof id === 'string' || Number.isInteger(id)
      const isObject = params === undefined || (typeof params === 'object' && params !== null && !Array.isArray(params))
      return jsonrpc === '2.0' && isId && typeof method === 'string' && isObject ? id : undefined
    } catch {
      return undefined
    }
  }

  function mutate(line: string, random: (below: number) => number): string {
    const characters = [...line]
    for (let n = random(4); n > 0; n--) {
      const at = random(characters.length)
      const other = '{}[]",:\\0 -x\ud83d'
      const change = [
        () => characters.splice(at, 1),
        () => characters.splice(at, 0, other[random(other.length)] ?? ''),
        () => characters.splice(at, 1, String(random(10))),
        () => characters.splice(at, random(30), ...characters.slice(at, at + random(30))),
        () => characters.splice(at),
      ][random(20) < 19 ? random(4) : 4]
      change?.()
    }
    return characters.join('').replaceAll('\n', ' ')
  }

  /** Numbers that are the same in each run (a linear congruential generator, with the constants of C's `rand`). */
  function generator(seed: number): (below: number) => number {
    let state = seed
    return (below) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0
      return (state >>> 8) % below
    }
  }
})

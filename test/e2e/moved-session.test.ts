import assert from 'node:assert/strict'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { connect, newPlace } from './server.ts'

describe('a session whose folder is moved while it runs', () => {
  for (const { what, declares = false, hasGit = true } of [
    { what: '' },
    { what: ', whose client names the old path', declares: true },
    { what: ' where it has no repository', hasGit: false },
  ])
    it(`goes on with its context and memories${what}`, async () => {
      const place = newPlace()
      const old = place.project
      if (!hasGit) rmSync(join(old, '.git'), { recursive: true })
      const { client, call } = await connect(place, {
        ...(declares && { capabilities: { roots: {} } }),
        prepare: (client) =>
          declares &&
          client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: pathToFileURL(old).href }] })),
      })
      await call('gateway_memory_store', { key: 'retries', value: 'three are enough' })
      const context = async (input = {}) =>
        (await call('gateway_get_context', { query: 'retries', ...input })).structuredContent
      const keysOf = ({ memories }: { memories: { key: string }[] }) => memories.map(({ key }) => key)
      const before = await context()
      assert.deepEqual([before.root, keysOf(before)], [old, ['retries']])

      const moved = join(place.home, 'moved')
      renameSync(old, moved)
      for (const input of [{}, { root: old }, { focus: join(old, 'src/retry.ts') }]) {
        const after = await context(input)
        assert.deepEqual([after.root, keysOf(after)], [moved, ['retries']], JSON.stringify(input))
        assert.match(JSON.stringify(after), /src\/retry\.ts/)
      }
      const { structuredContent } = await call('gateway_memory_recall', { key: 'retries' })
      assert.equal(structuredContent.memory.value, 'three are enough')
      await client.close()
    })

  it('is told what to do where the folder has gone', async () => {
    const place = newPlace()
    const { client, call } = await connect(place)
    rmSync(place.project, { recursive: true })
    const { isError, content } = await call('gateway_get_context', {})
    assert.equal(isError, true)
    assert.match(content[0]?.text ?? '', /is not a directory.* start the session again where it is now/s)
    await client.close()
  })
})

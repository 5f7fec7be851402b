import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createMemory, MemoryInput, MemoryList, MemorySearch } from '../../src/memory/memory.ts'
import { importLines, memoryLines } from '../../src/memory/records/memory-lines.ts'
import type { Store } from '../../src/store/store.ts'
import { keepMany } from './keep-many.ts'

const AT = '2026-11-21T07:17:52.000Z'
const now = () => new Date(AT)

/** Memories as JSON Lines, on every engine. `open` opens an empty store. */
export function memoryLinesContract(open: () => Promise<Store>): void {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-lines-'))
  after(() => rmSync(folder, { recursive: true }))
  let files = 0
  const fileOf = (lines: readonly unknown[]) => {
    const file = join(folder, `${files++}.jsonl`)
    writeFileSync(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
    return file
  }
  const exported = async (store: Store, namespace?: string) => {
    const lines: string[] = []
    for await (const line of memoryLines(store, { namespace, now: AT })) lines.push(line)
    return lines
  }

  describe('memories as lines', () => {
    it('come back as they were, and a second time change nothing', async () => {
      const [from, to] = [await open(), await open()]
      const source = createMemory({ store: from, now })
      const target = createMemory({ store: to, now })
      await source.store(MemoryInput.parse({ key: 'full', namespace: 'n', value: 'of no project' }))
      const odd = { 数据: '\u0000"\n\u2028\u2029\r' }
      await keepMany(
        from,
        Array.from({ length: 229 }, (_, i) => ({ key: `k${i}`, value: { i, ...odd } })),
        { now: AT },
      )
      const full = {
        key: 'full',
        namespace: 'n',
        project: '/p',
        value: 'v',
        tags: ['t'],
        also: ['alias'],
        ttl_seconds: 60,
      }
      await source.store(MemoryInput.parse(full))
      await source.of('key_other').store(MemoryInput.parse({ key: 'theirs', value: 1 }))
      const lines = await exported(from)
      assert.equal(lines.length, 231)
      const file = fileOf(lines.map((line) => line.trim()))
      assert.deepEqual(await importLines(to, file, { namespace: 'default', now }), { stored: 231, same: 0, expired: 0 })
      assert.deepEqual(await importLines(to, file, { namespace: 'default', now }), { stored: 0, same: 231, expired: 0 })
      const { memory } = await target.recall({ key: 'full', namespace: 'n', project: '/p' })
      assert.deepEqual(
        [memory?.project, memory?.tags, memory?.version, memory?.expires_at],
        ['/p', ['t'], 1, '2026-11-21T07:18:52.000Z'],
      )
      assert.equal((await target.search(MemorySearch.parse({ query: 'alias', project: '/p' }))).total, 1)
      assert.deepEqual(await exported(to), lines)
      assert.equal((await exported(to, 'n')).length, 2)
      await source.forget({ key: 'full', namespace: 'n', project: '/p', if_version: 1 })
      assert.doesNotMatch((await exported(from)).join(''), /alias/, 'what is forgotten is exported no more')
      await from.close()
      await to.close()
    })

    it('keep their writers, and are of this machine where they name none', async () => {
      const [from, to] = [await open(), await open()]
      await createMemory({ store: from, now })
        .of(null, 'key_ci')
        .store(MemoryInput.parse({ key: 'k', value: 1 }))
      const lines = await exported(from)
      await importLines(to, fileOf([...lines.map((line) => line.trim()), { key: 'plain', value: 1 }]), {
        namespace: 'default',
        now,
      })
      const { items } = await createMemory({ store: to, now }).recent(MemoryList.parse({}))
      assert.deepEqual(
        items.map(({ key, written_by }) => [key, written_by]),
        [
          ['plain', null],
          ['k', 'key_ci'],
        ],
      )
      const again = await importLines(to, fileOf([{ key: 'k', value: 1 }]), { namespace: 'default', now })
      assert.equal(again.stored, 1, 'this machine vouches for it now')
      await from.close()
      await to.close()
    })

    it('are imported by several at once, whose lines hold the same words in another order', async () => {
      const store = await open()
      const words = Array.from({ length: 40 }, (_, i) => `word${i}`)
      const linesOf = (importer: number) =>
        [...words.keys()].map((i) => {
          const turned = words[(importer % 2 === 0 ? i : words.length - i) % words.length]
          return { key: `${importer}/${i}`, value: turned }
        })
      const importers = Array.from({ length: 8 }, (_, importer) => fileOf(linesOf(importer)))
      let [writes, attempts] = [0, 0]
      const counting: Store = {
        ...store,
        write(work) {
          writes++
          return store.write((trx) => {
            attempts++
            return work(trx)
          })
        },
      }
      const imports = importers.map((file) => importLines(counting, file, { namespace: 'default', now }))
      for (const report of await Promise.all(imports))
        assert.deepEqual(report, { stored: words.length, same: 0, expired: 0 })
      assert.equal(attempts, writes, 'no transaction was retried after a deadlock')
      await store.close()
    })

    it('are taken from the file of server-memory', async () => {
      const store = await open()
      const file = fileOf([
        { type: 'entity', name: 'Grace', entityType: 'person', observations: ['owns billing', 'likes tea'] },
        { type: 'relation', from: 'Grace', to: 'Platform team', relationType: 'leads' },
        { type: 'entity', name: 'Platform team', entityType: 'team', observations: [] },
      ])
      const report = await importLines(store, file, { namespace: 'graph', now })
      assert.deepEqual(report, { stored: 2, same: 0, expired: 0 })
      const { memory } = await createMemory({ store, now }).recall({ key: 'Grace', namespace: 'graph' })
      assert.deepEqual([memory?.value, memory?.tags], ['owns billing\nlikes tea\nleads Platform team', ['person']])
      await store.close()
    })

    it('are all stored, or none where one is wrong, which is named', async () => {
      const store = await open()
      const good = { key: 'good', value: 1 }
      for (const [bad, message] of [
        ['{"key":', /^Line 3 is not JSON/],
        [[1], /^Line 3 is not an object/],
        [{ key: '', value: 1 }, /^Line 3 does not fit: key/],
        [{ key: 'k' }, /^Line 3 does not fit: value/],
        [{ type: 'entity', observations: ['x'] }, /^Line 3 does not fit: name/],
      ] as const)
        await assert.rejects(importLines(store, fileOf([good, '', bad]), { namespace: 'default', now }), {
          code: 'validation_failed',
          message,
        })
      assert.equal((await createMemory({ store, now }).recent(MemoryList.parse({}))).total, 0)
      await store.close()
    })

    it('are read past a byte order mark and CRLF, and refused where they are not UTF-8', async () => {
      const store = await open()
      const marked = fileOf(['\ufeff{"key":"a","value":1}\r', '{"key":"b","value":2}\r', ''])
      assert.equal((await importLines(store, marked, { namespace: 'default', now })).stored, 2)
      const latin = fileOf([])
      writeFileSync(latin, Buffer.from('{"key":"c","value":1}\n{"key":"d","value":"caf\u00e9"}\n', 'latin1'))
      await assert.rejects(importLines(store, latin, { namespace: 'default', now }), {
        message: 'Line 2 is not UTF-8. Nothing was imported; correct or remove the line.',
      })
      await assert.rejects(importLines(store, fileOf([{ key: '', value: 1 }]), { namespace: 'default', now }), {
        message: /characters\. Nothing was imported/,
      })
      const endless = fileOf(['"'.padEnd(5 * 1024 * 1024)])
      await assert.rejects(importLines(store, endless, { namespace: 'default', now }), {
        message: /^Line 1 is longer than 4 MiB/,
      })
      assert.equal((await createMemory({ store, now }).recent(MemoryList.parse({}))).total, 2)
      await store.close()
    })

    it('that have expired are left out, and a key that says something else gets a new version', async () => {
      const store = await open()
      const memory = createMemory({ store, now })
      await memory.store(MemoryInput.parse({ key: 'k', value: 'old', also: ['other'] }))
      const file = fileOf([
        { key: 'k', value: 'new' },
        { key: 'gone', value: 1, expires_at: AT },
      ])
      assert.deepEqual(await importLines(store, file, { namespace: 'default', now }), {
        stored: 1,
        same: 0,
        expired: 1,
      })
      const found = await memory.recall({ key: 'k', namespace: 'default' })
      assert.deepEqual([found.memory?.value, found.memory?.version], ['new', 2])
      await store.close()
    })
  })
}

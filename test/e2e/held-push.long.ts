import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { it } from 'node:test'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { chunks, sse } from '../doubles/upstream.ts'
import { createPerson, lineOf, receiptOf } from '../review/people.ts'
import { createRepository } from '../review/repository.ts'
import { askClaude, fromReadme, toolCall } from './claude.ts'
import { onDouble } from './gateway-process.ts'
import { CLI, newPlace, run } from './server.ts'

onDouble('a push by Claude Code', (gateway, upstream) => {
  it('is held by the hook of gazeway review install, however it is written, until a receipt has its hunks', async (t) => {
    const { root, git, commitFiles } = createRepository(t)
    const place = { ...newPlace(), project: root }
    const ann = createPerson('ann@example.org')
    commitFiles({
      'review.json': JSON.stringify({ version: 1, allowed_signers: 'allowed_signers', level: 'seen' }),
      allowed_signers: lineOf(ann),
    })
    const server = join(place.home, 'server.git')
    git('init', '-q', '--bare', server)
    git('remote', 'add', 'origin', server)
    git('push', '-q', 'origin', 'main')
    assert.equal((await run(place, ['review', 'install'])).code, 0)
    const head = commitFiles({ 'pay.ts': 'send(1)\n' })
    const landed = () => git('ls-remote', 'origin', 'refs/heads/main').slice(0, 40) === head

    const bin = join(place.home, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'gazeway'), `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`, { mode: 0o755 })
    const PATH = [bin, process.env.PATH].join(delimiter)
    const variables = { ...fromReadme(gateway()), PATH, GAZEWAY_HOME: place.data }

    /** Has Claude Code run a command. Returns what the command wrote, as the model gets it. */
    async function runs(command: string): Promise<string> {
      upstream().on('/chat/completions', (response, request) => {
        const { messages, tools } = request.body as { messages: { role: string }[]; tools?: unknown[] }
        const isDone = messages.some(({ role }) => role === 'tool')
        const answer = isDone || !tools?.length ? chunks(['Done.']) : toolCall('Bash', { command })
        return sse(answer)(response, request)
      })
      const turn = await askClaude(variables, place, `Run ${command}`, ['--allowedTools', 'Bash'])
      assert.deepEqual([turn.is_error, turn.permission_denials], [false, []])
      const last = upstream().received.at(-1)?.body as { messages: { role: string; content: string }[] }
      return last.messages.find(({ role }) => role === 'tool')?.content ?? ''
    }

    for (const command of [
      'git push -q origin main',
      'git -C . push -q origin main',
      'sh -c "git push -q origin HEAD:main"',
    ]) {
      assert.match(await runs(command), /pay\.ts:1: in no receipt that counts/, command)
      assert.equal(landed(), false, command)
    }
    const change = await readChange(await openCheckout(root), 'HEAD^', 'HEAD')
    const now = new Date().toISOString()
    const times = { started_at: now, decided_at: now, active_ms: 300 }
    const { mediaType, envelope } = await receiptOf(change, ann, { review: { times } })
    const receipts = join(root, '.git/gazeway/reviews')
    mkdirSync(receipts, { recursive: true })
    writeFileSync(join(receipts, 'receipt.json'), JSON.stringify({ mediaType, envelope }))
    assert.doesNotMatch(await runs('git push -q origin main'), /in no receipt/)
    assert.equal(landed(), true)
  })
})

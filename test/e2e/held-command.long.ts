import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { RECEIPT_MEDIA_TYPE } from '../../src/review/receipt.ts'
import { signedBytes } from '../../src/signing/envelope.ts'
import { gatewaySigner } from '../../src/signing/gateway-keys.ts'
import { chunks, sse } from '../doubles/upstream.ts'
import { createPerson, lineOf, type Person, receiptOf } from '../review/people.ts'
import { createRepository } from '../review/repository.ts'
import { passkeyOf } from '../signing/passkey.ts'
import { askClaude, fromReadme, toolCall } from './claude.ts'
import { onDouble } from './gateway-process.ts'
import { finish, newPlace, type Place, watch } from './server.ts'

const PLUGIN = resolve('plugin')
const [{ hooks }] = JSON.parse(readFileSync('plugin/hooks/hooks.json', 'utf8')).hooks.PreToolUse
const [{ command: HOOK, timeout: TIMEOUT }] = hooks as [{ command: string; timeout: number }]

/** Runs the hook of the plugin as Claude Code does, in a shell. */
function hook({ project, env }: Place, command: string, variables: Record<string, string> = {}) {
  const child = spawn('/bin/sh', ['-c', HOOK], {
    cwd: project,
    env: { ...env, CLAUDE_PLUGIN_ROOT: PLUGIN, ...variables },
  })
  return finish(child, JSON.stringify({ cwd: project, tool_name: 'Bash', tool_input: { command } }))
}

async function reasonOf(place: Place, command: string): Promise<string | null> {
  const { code, stdout, stderr } = await hook(place, command)
  assert.deepEqual([code, stderr], [0, ''])
  if (stdout === '') return null
  const { hookEventName, permissionDecision, permissionDecisionReason } = JSON.parse(stdout).hookSpecificOutput
  assert.deepEqual([hookEventName, permissionDecision], ['PreToolUse', 'deny'])
  return permissionDecisionReason
}

/** A clone whose policy holds `git push`, one commit ahead of its remote. */
async function createHeld(t: TestContext) {
  const [ann, other] = [createPerson('ann@example.org'), createPerson('gateway')]
  const place = newPlace()
  const repository = createRepository(t)
  const { root, git, commitFiles } = repository
  mkdirSync(place.data)
  const own: Person = { name: 'own', signer: await gatewaySigner(place.data, new Date()) }
  const observer = 'namespaces="gazeway-observer"'
  const { enrolled, answer } = passkeyOf({})
  const moved = createPerson('moved')
  const observers = ['gateway', 'own', 'moved']
  const policy = { version: 1, allowed_signers: 'allowed_signers', observers, level: 'seen' }
  const passkeys = [{ ...enrolled, reviewer: ann.name }]
  commitFiles({
    'review.json': JSON.stringify({ ...policy, passkeys, hold: ['git push', 'npm publish'] }),
    allowed_signers: [
      lineOf(ann),
      lineOf(other, observer),
      lineOf(own, observer),
      lineOf(moved, observer, `moved,${ann.name}`),
    ].join('\n'),
  })
  const server = join(place.home, 'server.git')
  git('init', '-q', '--bare', '-b', 'main', server)
  git('remote', 'add', 'origin', server)
  git('push', '-q', '-u', 'origin', 'main')
  commitFiles({ 'pay.ts': 'send(1)\n' })

  const held = { ...place, project: root }
  const folder = join(root, '.git/gazeway/reviews')
  /** Puts a receipt of what HEAD adds where `gazeway review` writes it, and nothing else there. */
  async function review(observer?: Person, isConfirmed = false): Promise<void> {
    const change = await readChange(await openCheckout(root), 'origin/main', 'HEAD')
    const receipt = await receiptOf(change, ann, { level: 'seen', ...(observer && { observer }) })
    const webauthn = isConfirmed && { webauthn: answer(signedBytes(receipt.payload)) }
    mkdirSync(folder, { recursive: true })
    const { envelope, observer: countersigned } = receipt
    const written = { mediaType: RECEIPT_MEDIA_TYPE, envelope, observer: countersigned, ...webauthn }
    writeFileSync(join(folder, 'receipt.json'), JSON.stringify(written))
  }
  const landed = () => git('--git-dir', server, 'log', '--format=%s', '-1', 'main', '--', 'pay.ts')
  return { ...repository, place: held, own, moved, other, review, landed }
}

describe('the hook of the plugin before a command', () => {
  it('denies what the policy holds, until a passkey or the gateway of another account stands behind the review', async (t) => {
    const { place, own, moved, other, review } = await createHeld(t)
    const unread = /^git push is held by the review policy\. pay\.ts:1: in no receipt that counts/
    assert.match((await reasonOf(place, 'cd . && git -c color.ui=false push origin main')) ?? '', unread)
    assert.match((await reasonOf(place, 'npm publish')) ?? '', /^npm publish is held/)
    assert.equal(await reasonOf(place, 'git status'), null)
    await review()
    assert.match((await reasonOf(place, 'git push')) ?? '', unread, 'a key of this account signs for whoever runs here')
    await review(own)
    assert.match((await reasonOf(place, 'git push')) ?? '', unread, 'the gateway of this account is no other party')
    await review(moved)
    assert.match(
      (await reasonOf(place, 'git push')) ?? '',
      unread,
      'nor one whose key was moved, which is the reviewer’s in the policy',
    )
    await review(undefined, true)
    assert.equal(await reasonOf(place, 'git push'), null)
    await review(other)
    assert.equal(await reasonOf(place, 'git push'), null)
  })

  it('reads the policy as the remote has it, and holds what changed after the review', async (t) => {
    const { place, other, review, commitFiles } = await createHeld(t)
    await review(other)
    commitFiles({ 'review.json': '{"version":1,"allowed_signers":"allowed_signers","reviewers":0}' })
    assert.match((await reasonOf(place, 'git push')) ?? '', /review\.json:1: in no receipt that counts/)
  })

  it('denies what lands something else than the HEAD that it judges, even after a review', async (t) => {
    const { place, root, git, commitFiles, other, review } = await createHeld(t)
    await review(other)
    const refusal = async (command: string) => (await reasonOf(place, command)) ?? ''
    const several = await refusal('echo "send(2)" > pay.ts; git add -A && git commit -qm Pay && git push')
    assert.match(
      several,
      /^git push is held .*Run the other part first, without git push: git commit -qm Pay\. Have .* reviewed/,
    )
    git('branch', 'other', 'HEAD^')
    assert.match(await refusal('git push origin other:main'), /, and other:main is not HEAD\. Check out what you push/)
    assert.match(await refusal('git push --all'), /, and --all is not HEAD/)
    for (const [more, command] of [
      ['--mirr', 'git push --mirr origin'],
      ['--al', 'git push --al'],
      ['-fx', 'git push -fx origin'],
      ['other:main', 'git push -o -d origin other:main'],
      ['other:main', 'git push -uo --delete origin other:main'],
      ['other:main', 'git push --delete --no-delete origin other:main'],
      ['--repo', 'git push --repo --repo origin other:main'],
      ['--receive-pack=./x', 'git push --receive-pack=./x origin HEAD'],
      ['other:main', 'git push origin -- other:main'],
      ['refs/heads/*:refs/heads/*', "git push origin 'refs/heads/*:refs/heads/*'"],
      ['--recurse-submodules=only', 'git push --recurse-submodules=only origin HEAD'],
    ] as const)
      assert.ok((await refusal(command)).includes(`, and ${more} is not HEAD`), command)
    assert.match(await refusal('HOME=/tmp git push'), /is not plain: HOME=\/tmp git push\. Write it without settings/)
    git('config', 'alias.p', 'push')
    assert.match(await refusal('git p'), /^git push is held/)
    for (const command of [
      'git -c alias.q=push q',
      'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.q GIT_CONFIG_VALUE_0=push git q',
      'git subtree push --prefix=lib origin main',
    ])
      assert.match(await refusal(command), /^git push is held/, command)
    assert.equal(await refusal('man git push'), '')
    for (const command of [
      'git push origin HEAD',
      'git push origin main refs/notes/reviews',
      'git push origin :other',
      'git push -fu --no-verify -o ci.skip origin HEAD:main',
      'git push -d origin other',
      'mkdir -p build; git push',
    ])
      assert.equal(await refusal(command), '', command)
    git('config', 'push.default', 'matching')
    assert.match(await refusal('git push'), /, and push\.default matching is not HEAD/)
    git('config', 'push.default', 'simple')
    git('config', 'remote.origin.push', 'other:main')
    assert.match(await refusal('git push origin'), /, and remote\.origin\.push other:main is not HEAD/)
    git('config', '--unset', 'remote.origin.push')
    assert.equal(await refusal('git push'), '')
    commitFiles({ 'pay.ts': 'send(3)\n' })
    const elsewhere = { ...place, project: place.home }
    const link = join(place.home, 'link')
    symlinkSync(join(root, '.git'), link)
    for (const command of [
      `cd ${root} && git push`,
      `cd nowhere; git -C ${root} push`,
      `git -C ${dirname(root)} -C ${basename(root)} push`,
      `git -C ${link}/.. push`,
      `cd ${dirname(root)} && git -C ${basename(root)} push`,
      `mkdir -p ${root}/new/folder && cd ${root}/new/folder && git push`,
    ])
      assert.match((await reasonOf(elsewhere, command)) ?? '', /pay\.ts/, command)
  })

  it('says nothing where no policy holds anything, and outside of repositories', async () => {
    const place = newPlace()
    assert.equal(await reasonOf(place, 'git push'), null)
    assert.equal(await reasonOf({ ...place, project: place.home }, 'git push'), null)
  })

  it('exits with 2 where it cannot judge: a broken policy, no program, an input that never ends', async (t) => {
    const { place, git, commitFiles } = await createHeld(t)
    const start = performance.now()
    const silent = watch(spawn('/bin/sh', ['-c', HOOK], { env: { ...place.env, CLAUDE_PLUGIN_ROOT: PLUGIN } }))
    const missing = await hook(place, 'git push', { PATH: '/nowhere' })
    assert.equal(missing.code, 2)
    const unplugged = await hook(place, 'git push', { CLAUDE_PLUGIN_ROOT: place.home })
    assert.equal(unplugged.code, 2)
    commitFiles({ 'review.json': '{"version": 1, "hold": "git push"}' })
    git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    const broken = await hook(place, 'git push')
    assert.deepEqual([broken.code, broken.stderr.includes('is no review policy')], [2, true], broken.stderr)
    assert.equal((await hook(place, 'ls')).code, 0, 'a broken policy holds only what is held usually')
    assert.equal((await silent.exit).code, 2)
    assert.match(silent.stderr(), /did not end within 10 s/)
    assert.ok(performance.now() - start < 1000 * TIMEOUT)
  })
})

onDouble('Claude Code with the plugin', (gateway, upstream) => {
  it('does not push before the review, and pushes after it', async (t) => {
    const { place, other, review, landed } = await createHeld(t)
    const heard: string[] = []
    upstream().on('/chat/completions', (response, request) => {
      const { messages, tools = [] } = request.body as { messages: { role: string; content: unknown }[]; tools?: [] }
      const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content))
      heard.push(...results)
      const call = toolCall('Bash', { command: "sh -c 'git push origin main'", description: 'Push' })
      return sse(tools.length === 0 || results.length > 0 ? chunks(['Done.']) : call)(response, request)
    })
    const variables = { ...fromReadme(gateway()), GAZEWAY_HOME: place.data, XAI_API_KEY: 'xai-unused' }
    const turn = () => askClaude(variables, place, 'Push.', ['--plugin-dir', PLUGIN, '--allowedTools', 'Bash'])
    await turn()
    assert.match(
      heard.at(-1) ?? '',
      /git push is held by the review policy.*pay\.ts:1.*gazeway review [0-9a-f]{10}\.\.HEAD/,
    )
    assert.equal(landed(), '')
    await review(other)
    await turn()
    assert.equal(landed(), 'Change', heard.at(-1))
  })
})

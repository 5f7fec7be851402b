import assert from 'node:assert/strict'
import type { Example, OpenApi } from '../../adapters/platform/openapi.ts'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { type GatewayKey, observerLine } from '../../src/signing/gateway-keys.ts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { chainConfig, newRecipient } from '../chain/setup.ts'
import { deployToken } from '../chain/token.ts'
import { fixationsOf, pageOf, readingOf } from '../gaze/reader.ts'
import { insertTask } from '../gaze/task-row.ts'
import { createRepository, numbered } from '../review/repository.ts'
import { skillFolders, skillText } from '../skills/folders.ts'
import { exampleOf } from './api-example.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

const CHAIN_ID = 31_337

// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into field by field.
type Json = any

/** Takes what ends a part of the recording. */
interface Ends {
  after(end: () => unknown): void
}

/** Operations without an example: their reply is a stream. */
export const STREAMS = ['streamCalls', 'streamChat']

/**
 * Uses each operation of a platform once, as an agent and its operator would.
 *
 * @returns an example of each operation by its name, and what the platform describes
 */
export async function recordExamples(t: Ends): Promise<{ examples: Record<string, Example>; described: OpenApi }> {
  const anvil = await startAnvil({ chainId: CHAIN_ID })
  t.after(() => anvil.stop())
  const folders = skillFolders()
  t.after(() => folders.remove())
  folders.write('project/.claude/skills/docs/pdf/SKILL.md', skillText({ name: 'pdf', description: 'Reads PDFs.' }))
  const platform = await startStory(anvil, `${folders.folder}/project`)
  t.after(() => platform.close())
  const recorder = createRecorder(platform)
  for (const chapter of CHAPTERS) await chapter(recorder, t)
  const described = (await (await fetch(`${platform.url}/openapi.json`)).json()) as OpenApi
  return { examples: recorder.examples, described }
}

async function startStory(anvil: Anvil, project: string): Promise<RunningPlatform> {
  const token = await deployToken(anvil)
  await token.mint('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', 2_500_000n)
  const { chain } = chainConfig({ url: anvil.url, chainId: CHAIN_ID, token: token.address, wallet: {} })
  const agent = {
    public_url: 'https://agents.example.org',
    registrations: [{ agent_id: 7, agent_registry: `eip155:84532:0x${'8'.repeat(40)}` }],
  }
  return startPlatform('sandbox', {
    env: { GAZEWAY_WALLET_PRIVATE_KEY: KEYS[0] },
    document: { chain: { ...chain, agent }, skills: { project, user_folders: [] } },
  })
}

interface Recorder {
  platform: RunningPlatform
  examples: Record<string, Example>
  /**
   * Sends a request that must succeed, and keeps it as the example of an operation.
   *
   * @param options.admin with the admin's key instead of the agent's
   */
  use(operation: string, at: string, options?: { body?: unknown; admin?: boolean; key?: string | null }): Promise<Json>
}

function createRecorder(platform: RunningPlatform): Recorder {
  const examples: Record<string, Example> = {}
  const tidy = exampleOf(platform)
  return {
    platform,
    examples,
    async use(operation, at, { body, admin = false, key = admin ? platform.admin : platform.key } = {}) {
      const [method = '', path = ''] = at.split(' ')
      const answer = await ask(platform, method, path, { key, body })
      const text = await answer.text()
      assert.ok(answer.ok, `${at}: ${answer.status} ${text}`)
      const reply = text === '' ? undefined : JSON.parse(text)
      assert.ok(!(operation in examples), `${operation} has an example already`)
      examples[operation] = tidy({ path, body, reply })
      return reply
    },
  }
}

type Chapter = (recorder: Recorder, t: Ends) => Promise<void>

const keysAndGroups: Chapter = async ({ use, platform }) => {
  const group = await use('createGroup', 'POST /api/groups', {
    admin: true,
    body: { name: 'research', budgets: [{ usd: 50, per: 'month' }] },
  })
  await use('listGroups', 'GET /api/groups?limit=10', { admin: true })
  await use('getGroup', `GET /api/groups/${group.id}`, { admin: true })
  await use('updateGroup', `PATCH /api/groups/${group.id}`, { admin: true, body: { name: 'research-eu' } })
  const { id } = await use('createKey', 'POST /api/keys', {
    admin: true,
    body: {
      name: 'ci',
      scopes: ['inference', 'platform'],
      group: group.id,
      limits: { credit_limit_usd: 5, budgets: [{ usd: 20, per: 'day' }] },
    },
  })
  await use('listKeys', 'GET /api/keys?limit=10', { admin: true })
  await use('getKey', `GET /api/keys/${id}`, { admin: true })
  await use('updateKey', `PATCH /api/keys/${id}`, { admin: true, body: { name: 'ci-nightly' } })
  await use('rotateKey', `POST /api/keys/${id}/rotate`, { admin: true, body: { grace_seconds: 3600 } })
  await use('listBurn', 'GET /api/keys/burn?limit=10', { admin: true })
  await use('releaseKeySpending', `POST /api/keys/${id}/release`, { admin: true })
  await use('releaseGroupSpending', `POST /api/groups/${group.id}/release`, { admin: true })
  await use('forgiveKeyDebt', `POST /api/keys/${id}/forgive`, { admin: true })
  await use('forgiveGroupDebt', `POST /api/groups/${group.id}/forgive`, { admin: true })
  await use('revokeKey', `DELETE /api/keys/${id}`, { admin: true })
  await use('deleteGroup', `DELETE /api/groups/${group.id}`, { admin: true })
  await use('verifySession', 'POST /api/verify-session', { body: { key: platform.key } })
}

const money: Chapter = async ({ use, platform }) => {
  const { key, keyId } = platform
  await use('getPricing', 'GET /api/wallet/metered/pricing')
  await use('deposit', 'POST /api/wallet/metered/deposit', {
    admin: true,
    body: { caller_id: keyId, amount_usd: 25, reference: 'invoice-17' },
  })
  const { models } = (await (await ask(platform, 'GET', '/api/wallet/metered/pricing')).json()) as Json
  await use('callMetered', 'POST /api/wallet/metered/call', {
    key: null,
    body: { caller_id: key, model: models[0].id, prompt: 'What is a hash chain?', max_tokens: 200 },
  })
  await use('listReceipts', 'GET /api/wallet/metered/usage?limit=10')
  await use('getWallet', 'GET /api/wallet')
  await use('listLedgerEntries', 'GET /api/wallet/ledger?limit=10')
  await use('listBalances', 'GET /api/wallet/balances', { admin: true })
  const sent = { caller_id: keyId, amount_usd: 1.5, to: newRecipient() }
  const { id } = await use('withdraw', 'POST /api/wallet/withdraw', { admin: true, body: sent })
  await use('getWithdrawal', `GET /api/wallet/withdraw/${id}`, { admin: true })
  await use('listWithdrawals', 'GET /api/wallet/withdrawals?limit=10')
  await use('listDeposits', 'GET /api/wallet/deposits?limit=10')
  await use('listPayments', 'GET /api/wallet/payments?limit=10')
  await use('getStatement', `GET /api/wallet/statements?period=${new Date().toISOString().slice(0, 7)}`)
  await use('closePeriod', 'POST /api/wallet/periods/2025-01/close', { admin: true })
  await use('getAgentRegistration', 'GET /.well-known/agent-registration.json', { key: null })
}

const work: Chapter = async ({ use, platform }) => {
  const { id } = await use('createTask', 'POST /api/tasks', {
    body: { title: 'Translate the changelog', description: 'Into French.', reward_usd: 2, capabilities: ['french'] },
  })
  await use('listTasks', 'GET /api/tasks?status=open&limit=10')
  await use('getTask', `GET /api/tasks/${id}`)
  const claimed = await use('claimTask', `POST /api/tasks/${id}/claim`, { body: { agent: 'translator' } })
  const { claim_token } = claimed
  await use('extendClaim', `POST /api/tasks/${id}/heartbeat`, { body: { agent: 'translator', claim_token } })
  await use('completeTask', `POST /api/tasks/${id}/complete`, {
    body: { agent: 'translator', claim_token, result: { text: 'Version 0.1.0' } },
  })
  await use('listAssignees', 'GET /api/tasks/assignees')
  await use('getTaskStats', 'GET /api/tasks/stats')
  const other = await made(platform, '/api/tasks', { title: 'Draw a logo' })
  const escrow = await use('createEscrow', 'POST /api/wallet/escrow', { body: { task_id: other.id, amount_usd: 1 } })
  await use('listEscrows', 'GET /api/wallet/escrow?limit=10')
  await use('getEscrow', `GET /api/wallet/escrow/${escrow.id}`)
  await use('cancelTask', `DELETE /api/tasks/${other.id}`)
  await use('refundEscrow', `POST /api/wallet/escrow/${escrow.id}/refund`, { body: { reason: 'No longer needed' } })
  await use('createSwarm', 'POST /api/tasks/swarm', {
    body: { goal: 'Compare three databases.', max_tasks: 3, dry_run: true },
  })
  await use('listSwarms', 'GET /api/swarms?limit=10')
}

const attention: Chapter = async ({ use, platform }) => {
  // Gaze counts from the claim of its task, so the claim is dated back: the reading has taken 40 s.
  const id = `task_${'7'.padStart(32, '0')}`
  await insertTask(platform.gateway.store, id)
  const escrow = await made(platform, '/api/wallet/escrow', { task_id: id, amount_usd: 1 }, platform.admin)
  const { claim_token } = await made(platform, `/api/tasks/${id}/claim`, { agent: 'reader' })
  const claimed_at = new Date(Date.now() - 60_000).toISOString()
  await platform.gateway.store.db.updateTable('tasks').set({ claimed_at }).where('id', '=', id).execute()
  const records = justRead()
  const { attestation } = await made(platform, '/api/gaze/store', { session_id: 'design', task_id: id, records })
  await use('storeGaze', 'POST /api/gaze/store', { body: { session_id: 'notes', records: records.slice(0, 2) } })
  await use('listGazeRecords', 'GET /api/gaze/history?session_id=design&limit=10')
  await use('listGazeSessions', 'GET /api/gaze/sessions?limit=10')
  await use('getAttestation', 'GET /api/attestation/status?session_id=design')
  await use('analyzeGaze', 'POST /api/gaze/analyze', { body: { session_id: 'design', narrate: false } })
  await made(platform, `/api/tasks/${id}/complete`, { agent: 'reader', claim_token })
  await use('releaseEscrow', 'POST /api/wallet/escrow/release', {
    admin: true,
    body: { escrow_id: escrow.id, attestation_id: attestation.id },
  })
}

const memory: Chapter = async ({ use, platform }) => {
  const { memory } = await use('storeMemory', 'POST /api/memory', {
    body: { key: 'deploy/staging', value: 'Staging is the eu-west cluster.', tags: ['deploy'] },
  })
  const { id } = memory ?? ((await (await ask(platform, 'GET', '/api/memory')).json()) as Json).items[0]
  await use('listMemories', 'GET /api/memory?tag=deploy&limit=10')
  await use('searchMemories', 'POST /api/memory/search', { body: { query: 'Where is staging?' } })
  await use('recallMemory', 'GET /api/memory/recall?key=deploy/staging')
  await use('getMemoryStats', 'GET /api/memory/stats')
  await use('deleteMemory', `DELETE /api/memory/${id}`)
}

const chats: Chapter = async ({ use }) => {
  const session = await use('createSession', 'POST /api/sessions', { body: { title: 'Release notes' } })
  const id = session.id ?? session.session.id
  await use('listSessions', 'GET /api/sessions?limit=10')
  await use('getSession', `GET /api/sessions/${id}`)
  await use('chat', `POST /api/sessions/${id}/chat`, { body: { message: 'What changed in 0.1.0?' } })
  await use('listMessages', `GET /api/sessions/${id}/messages?limit=10`)
  await use('searchSessions', 'GET /api/sessions/search?q=release&limit=10')
  await use('updateSession', `PATCH /api/sessions/${id}`, { body: { title: 'Release notes of 0.1.0' } })
  await use('deleteSession', `DELETE /api/sessions/${id}`)
  await use('listSkills', 'GET /api/skills?category=docs')
  await use('listSkillCategories', 'GET /api/skills/categories')
  await use('getSkill', 'GET /api/skills/pdf')
  await use('listJobs', 'GET /api/jobs')
  await use('listMcpServers', 'GET /api/mcp')
  const { id: connection } = await use('createConnection', 'POST /api/connections', { body: { user: 'ann' } })
  await use('listConnections', 'GET /api/connections?limit=10')
  await use('closeConnection', `DELETE /api/connections/${connection}`)
}

const calls: Chapter = async ({ use, platform }) => {
  const { key } = await made(platform, '/api/keys', { name: 'coder', scopes: ['inference'] }, platform.admin)
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] })
  const session = '0b5f7a52-94a5-4bd4-9c1c-5a1d0ac0a9b5'
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'x-claude-code-session-id': session,
  }
  const answer = await fetch(`${platform.gatewayUrl}/v1/chat/completions`, { method: 'POST', headers, body })
  assert.equal(answer.status, 200)
  await platform.gateway.calls.flush()
  const { items } = await use('listCalls', `GET /api/calls?session=${session}&limit=10`, { key })
  const { call_id } = items[0]
  await use('getCall', `GET /api/calls/${call_id}`, { key })
  await use('explainCall', `GET /api/calls/${call_id}/explained`, { key })
  await use('getCallStats', 'GET /api/calls/stats?group_by=model&and_by=caller', { key })
  await use('listCallCaches', `GET /api/calls/cache?session=${session}`, { key })
  await use('addCodingSessionFacts', `POST /api/coding-sessions/${session}/facts`, {
    key,
    body: { repository: 'https://github.com/example/shop', branch: 'main', client: 'claude-code' },
  })
  await use('listCodingSessions', 'GET /api/coding-sessions?limit=10', { key })
  await use('getCodingSession', `GET /api/coding-sessions/${session}`, { key })
  await use('listCodingSessionCosts', 'GET /api/coding-session-costs?by=model', { key })
  const by = `?key=${items[0].caller_id}`
  await use('stopCodingSession', `POST /api/coding-sessions/${session}/stop${by}`, { admin: true })
  await use('resumeCodingSession', `POST /api/coding-sessions/${session}/resume${by}`, {
    admin: true,
    body: { raise_usd: 1 },
  })
}

const reviews: Chapter = async ({ use }, t) => {
  const repository = createRepository(t)
  repository.commitFiles({ 'src/pay.ts': numbered(9) })
  repository.write('src/pay.ts', numbered(9).replace('line 5', 'five'))
  repository.commit()
  const change = await readChange(await openCheckout(repository.root), 'HEAD^', 'HEAD')
  const { id } = await use('createReview', 'POST /api/reviews', { body: change })
  const seen = { at: new Date(Date.now() - 1000).toISOString(), dwell_ms: 1000, source: 'ide' }
  await use('addReviewEvidence', `POST /api/reviews/${id}/evidence`, {
    body: { records: [{ ...seen, env: { path: 'src/pay.ts', line_start: 4, line_end: 6 } }] },
  })
  await use('getReview', `GET /api/reviews/${id}`)
  const receipt = await use('decideReview', `POST /api/reviews/${id}/decision`, {
    body: { reviewer: 'ann@example.org', decision: 'approve' },
  })
  await use('listReviews', 'GET /api/reviews?limit=10')
  const { keys } = await use('listSigningKeys', 'GET /.well-known/gazeway-keys', { key: null })
  await use('verifyReviewReceipt', 'POST /api/reviews/verify', {
    body: {
      receipts: [receipt],
      change: { digest: change.digest, parts: change.parts },
      authors: ['ada@example.org'],
      policy: { version: 1, allowed_signers: 'signers', level: 'seen', observers: ['gateway'] },
      allowed_signers: keys.map((key: GatewayKey) => observerLine('gateway', key)).join('\n'),
    },
  })
}

const operation: Chapter = async ({ use }) => {
  await use('getHealth', 'GET /health', { key: null })
  await use('getGatewayStatus', 'GET /api/gateway-status', { key: null })
  await use('getStatus', 'GET /api/status', { key: null })
  await use('getModelInfo', 'GET /api/model/info', { key: null })
  await use('getDetailedHealth', 'GET /health/detailed', { key: null })
  await use('listProfiles', 'GET /api/profiles')
  await use('getConfig', 'GET /api/config')
  await use('listConfigKeys', 'GET /api/config/keys', { admin: true })
  await use('updateConfig', 'PATCH /api/config', { admin: true, body: { 'audit.store_content': true } })
  await use('setConfig', 'POST /api/config', { admin: true, body: { 'audit.store_content': false } })
  const model = await use('getModelConfig', 'GET /api/config/model', { admin: true })
  await use('setModelConfig', 'POST /api/config/model', { admin: true, body: { models: model.models } })
  await use('listAvailableModels', 'GET /api/available-models')
  await use('listUpstreams', 'GET /api/upstreams', { admin: true })
  await use('testUpstream', 'POST /api/upstreams/default/test', { admin: true, body: { model: 'llm-3-fast' } })
  await use('tryUpstream', 'POST /api/upstreams/default/try', { admin: true, body: { test: 'llm-3-fast' } })
  await use('listCandidates', 'GET /api/candidates?model=gpt-5', { admin: true })
  await use('explainRoutes', 'POST /api/candidates', {
    admin: true,
    body: { model: 'gpt-5', routes: [{ model: 'gpt-*', to: ['default/llm-3-fast'] }] },
  })
  await use('runDoctor', 'GET /api/doctor', { admin: true })
}

const farewell: Chapter = async ({ use, platform }) => {
  const { id, key } = await made(platform, '/api/keys', { name: 'leaver', scopes: ['platform'] }, platform.admin)
  await made(platform, '/api/memory', { key: 'note', value: 'Staging is down.' }, key)
  await use('forgetCaller', `POST /api/callers/${id}/forget`, { admin: true })
}

const CHAPTERS: readonly Chapter[] = [
  keysAndGroups,
  money,
  work,
  attention,
  memory,
  chats,
  calls,
  reviews,
  operation,
  farewell,
]

/** Makes what an example needs, without an example of its own. */
async function made(platform: RunningPlatform, path: string, body: unknown, key = platform.key): Promise<Json> {
  const answer = await ask(platform, 'POST', path, { body, key })
  const text = await answer.text()
  assert.ok(answer.ok, `${path}: ${answer.status} ${text}`)
  return JSON.parse(text)
}

/** A person's reading that has just ended. */
function justRead() {
  const records = fixationsOf(readingOf(pageOf(1), 1, { seconds: 40 })).slice(0, 112)
  const last = records.at(-1)
  const late = last === undefined ? 0 : Date.now() - (Date.parse(last.at) + last.dwell_ms)
  return records.map((record) => ({ ...record, at: new Date(Date.parse(record.at) + late).toISOString() }))
}

import type { GroupedRoute } from './define-route.ts'
import { type Example, type OpenApi, openApi, passages } from './openapi.ts'

/** Descriptions of the groups of routes. */
const TAGS: Readonly<Record<string, string>> = {
  Health: 'State of the service, and what it offers.',
  Keys: 'API keys and groups of them: limits, budgets, rotation.',
  Connections: 'Tickets for the agent socket, and its connections.',
  'Metered wallet': 'Model calls with receipts, their prices and deposits.',
  Wallet: 'Balances, ledger, statements and withdrawals.',
  Agent: 'Registration of the agent on chain.',
  Tasks: 'Tasks with rewards, which agents claim and complete.',
  Escrow: 'Rewards that are locked until a task is completed.',
  Calls: 'Records and statistics of model calls.',
  'Coding sessions': 'Sessions of coding agents: costs, limits, stops.',
  Configuration: 'Settings of the service.',
  Upstreams: 'Model providers and routes to them.',
  Gaze: 'Gaze records and attestations of attention.',
  Reviews: 'Reviews of changes and their signed receipts.',
  Memory: 'Memories that a key’s assistants share.',
  Sessions: 'Chats with the agent.',
  Skills: 'Skills of the agent.',
  'Agent gateway': 'Paths of the agent gateway that are forwarded or answered for it.',
}

/** Describes the platform: its routes, with examples that a test has recorded. */
export async function describePlatform(routes: readonly GroupedRoute[]): Promise<OpenApi> {
  const { default: examples } = await import('./examples.json', { with: { type: 'json' } })
  return openApi(routes, {
    title: 'Gazeway platform',
    description: 'Metered model calls, and services for agents and their frontends.',
    tags: TAGS,
    examples: examples as Readonly<Record<string, Example>>,
    others: passages(),
  })
}

import type { SectionName } from '../../../../../src/config/config-schema.ts'

/** Tasks of an operator, each with a page of its settings. */
export const TASKS = [
  { id: 'providers', label: 'Providers' },
  { id: 'routes', label: 'Routes' },
  { id: 'prices', label: 'Prices' },
  { id: 'budgets', label: 'Budgets' },
  { id: 'payments', label: 'Payments and chain' },
  { id: 'attention', label: 'Attention and reviews' },
  { id: 'retention', label: 'Retention' },
  { id: 'operation', label: 'Operation' },
] as const
export type Task = (typeof TASKS)[number]['id']

const TASK_OF: Readonly<Record<SectionName, Task>> = {
  upstream: 'providers',
  upstreams: 'providers',
  routes: 'routes',
  pricing: 'prices',
  wallet: 'budgets',
  alerts: 'budgets',
  mpp: 'payments',
  chain: 'payments',
  gaze: 'attention',
  review: 'attention',
  context: 'attention',
  audit: 'retention',
  responses: 'retention',
  chats: 'retention',
  tasks: 'retention',
  store: 'operation',
  http: 'operation',
  agent_gateway: 'operation',
  identity: 'operation',
  memory: 'operation',
  remote: 'operation',
  sessions: 'operation',
  skills: 'operation',
  mcp: 'operation',
  log: 'operation',
}

/** Section of a dotted key. */
export const sectionOf = (key: string) => key.split('.')[0] as SectionName

/** Task that a setting, a section or an entry belongs to. */
export const taskOf = (key: string): Task => (/retention/.test(key) ? 'retention' : TASK_OF[sectionOf(key)])

import { randomOf } from '../../test/gaze/human-stream.ts'

/** Topics of other teams' memories. */
const TEAMS = [
  'newsletter tool',
  'badge printer',
  'Lisbon office',
  'data science group',
  'partner portal',
  'loyalty programme',
  'returns desk',
  'supplier intake',
  'gift card service',
  'store locator',
  'photo studio',
  'fraud desk',
  'call centre',
  'warehouse robots',
  'price watcher',
  'review moderation',
  'careers site',
  'press archive',
  'wholesale catalogue',
  'seating planner',
  'translation memory',
  'coupon engine',
  'stock forecast',
  'training academy',
  'expense tracker',
  'meeting rooms',
  'visitor kiosk',
  'affiliate feed',
  'complaints register',
  'size advisor',
] as const

const PEOPLE = ['Amir', 'Chloe', 'Dmitri', 'Esra', 'Femke', 'Goran', 'Hana', 'Ivo', 'Jun', 'Katya']
const TOOLS = ['MariaDB', 'Flask', 'Ansible', 'Hetzner', 'Jenkins', 'Sentry', 'RabbitMQ', 'Angular', 'Mattermost', 'Go']

interface Template {
  key: string
  value(team: string, person: string, tool: string, number: number): string
  also: readonly string[]
}

const TEMPLATES: readonly Template[] = [
  {
    key: 'owner',
    value: (team, person) => `${person} looks after the ${team}.`,
    also: ['responsible', 'contact', 'maintainer', 'whom to ask'],
  },
  {
    key: 'stack',
    value: (team, _, tool) => `The ${team} is built on ${tool}.`,
    also: ['technology', 'framework', 'written in', 'platform'],
  },
  {
    key: 'standup',
    value: (team, person, _, n) => `Standup of the ${team} is at 9:${10 + n}, ${person} takes notes.`,
    also: ['daily meeting', 'sync', 'time', 'minutes'],
  },
  {
    key: 'budget',
    value: (team, _, __, n) => `The ${team} may spend ${n} thousand euros a quarter.`,
    also: ['money', 'cost', 'funding', 'finance'],
  },
  {
    key: 'alerts',
    value: (team, _, tool, n) => `Alarms of the ${team} reach ${tool} after ${n} minutes.`,
    also: ['monitoring', 'notification', 'incident', 'paging'],
  },
  {
    key: 'host',
    value: (team, _, __, n) => `The ${team} runs on node ${n} in the basement.`,
    also: ['server', 'machine', 'deployment', 'where it runs'],
  },
  {
    key: 'decision',
    value: (team, person, tool) => `${person} decided that the ${team} moves off ${tool} next year.`,
    also: ['migration', 'architecture', 'replace', 'plan'],
  },
  {
    key: 'bug',
    value: (team, _, __, n) => `A known fault of the ${team}: leap days are counted twice, see ticket ${n}.`,
    also: ['defect', 'issue', 'calendar', 'workaround'],
  },
  {
    key: 'channel',
    value: (team) => `Talk about the ${team} in its own channel, not by mail.`,
    also: ['chat', 'slack', 'communication', 'questions'],
  },
  {
    key: 'limit',
    value: (team, _, __, n) => `The ${team} takes at most ${n} requests a second.`,
    also: ['rate', 'throttle', 'capacity', 'quota'],
  },
  {
    key: 'naming',
    value: (team) => `Branches of the ${team} start with its initials.`,
    also: ['git', 'convention', 'prefix', 'repository'],
  },
  {
    key: 'holiday',
    value: (team, person) => `In December ${person} covers the ${team} alone.`,
    also: ['vacation', 'absence', 'deputy', 'winter'],
  },
  {
    key: 'export',
    value: (team, _, __, n) => `The ${team} writes a CSV export every ${n} hours.`,
    also: ['report', 'download', 'spreadsheet', 'extract'],
  },
  {
    key: 'language',
    value: (team) => `Texts of the ${team} are English first, Dutch second.`,
    also: ['locale', 'translation', 'i18n', 'wording'],
  },
  {
    key: 'contract',
    value: (team, _, tool, n) => `The contract for the ${team} with the ${tool} consultants ends in week ${n}.`,
    also: ['vendor', 'agreement', 'renewal', 'external'],
  },
  {
    key: 'review',
    value: (team, person) => `${person} reviews every change to the ${team}.`,
    also: ['approval', 'merge', 'code review', 'sign off'],
  },
  {
    key: 'log',
    value: (team, _, tool) => `The ${team} logs to ${tool} in JSON.`,
    also: ['traces', 'debug', 'observability', 'files'],
  },
  {
    key: 'test',
    value: (team, _, __, n) => `Tests of the ${team} take ${n} minutes; skip none of them.`,
    also: ['suite', 'quality', 'coverage', 'verification'],
  },
  {
    key: 'port',
    value: (team, _, __, n) => `Locally the ${team} listens on port 80${n}.`,
    also: ['localhost', 'network', 'development', 'address'],
  },
  {
    key: 'access',
    value: (team, person) => `Access to the ${team} is granted by ${person} within a day.`,
    also: ['permission', 'account', 'rights', 'role'],
  },
]

/** `count` SYNTHETIC memories of other teams, at most 600, the same each time. */
export function otherMemories(count: number): Array<{ key: string; value: string; also: readonly string[] }> {
  const random = randomOf(29)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const all = TEAMS.flatMap((team) =>
    TEMPLATES.map(({ key, value, also }) => ({
      key: `${team.replaceAll(' ', '-').toLowerCase()}/${key}`,
      value: value(team, pick(PEOPLE), pick(TOOLS), 10 + Math.floor(random() * 50)),
      also,
      order: random(),
    })),
  )
  return all
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ order, ...memory }) => memory)
}

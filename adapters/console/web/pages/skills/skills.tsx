import type { Skill, SkillWithContent } from '../../../../../src/skills/skill.ts'
import type { SkillCategories, SkillList } from '../../../../platform/routes/skills-routes.ts'
import { Badge, Card, Empty, ErrorNote, Facts, NotLoaded, Page, Verbatim, When } from '../../components/content.ts'
import { ALL, useFilters } from '../../components/forms.ts'
import { type Column, ListCard } from '../../components/lists.ts'
import { count } from '../../format.ts'
import { href, type PageProps, queryOf } from '../../router.ts'
import { useLive } from '../../use-live.ts'

/** Skills on this machine and on the agent gateway, or one skill. */
export default function Skills({ id, query }: PageProps) {
  if (id !== null)
    return (
      <Page title="Skill" back={{ label: 'All skills', href: href('skills') }}>
        <OneSkill id={id} />
      </Page>
    )
  return (
    <Page
      title="Skills"
      intro="Instructions for agents, from the skill folders on this machine and from the agent gateway."
    >
      <SkillTable query={query} />
    </Page>
  )
}

const FIRST_SKILL =
  'mkdir -p ~/.agents/skills/plain-words && ' +
  String.raw`printf -- '---\nname: plain-words\ndescription: Write short sentences.\n---\nSay one thing at a time.\n' ` +
  '> ~/.agents/skills/plain-words/SKILL.md'

const COLUMNS: Column<Skill>[] = [
  { key: 'name', label: 'Name' },
  { key: 'description', label: 'Description' },
  { key: 'category', label: 'Category' },
  { key: 'source', label: 'From' },
  { key: 'state', label: 'State', render: (skill) => <State skill={skill} /> },
]

function SkillTable({ query }: Pick<PageProps, 'query'>) {
  const filters = useFilters(query, ['search', 'category'], ['skills'])
  const { search, category } = filters.draft
  const asked = queryOf({ category, search: search.trim() })
  const list = useLive<SkillList>(`/api/skills${asked}`, { everyMs: 10_000 })
  const categories = useLive<SkillCategories>('/api/skills/categories', { everyMs: 30_000 })
  const known = (categories.data?.items ?? []).map(({ name, count }) => ({ value: name, label: `${name} (${count})` }))
  return (
    <ListCard<Skill, typeof filters.draft>
      filters={{
        ...filters,
        one: 'skill',
        hint: 'Try other words, or another category.',
        fields: [
          { name: 'search', label: 'Search', type: 'search', maxLength: 1000 },
          { name: 'category', label: 'Category', options: [ALL, ...known] },
        ],
      }}
      label="Skills"
      list={list}
      notes={[list.data?.warnings ?? [], list.data?.upstream_error ?? []].flat()}
      loading="the skills"
      rowKey={({ id, source }) => `${source}/${id}`}
      opens="skills"
      columns={COLUMNS}
      empty={{
        title: 'No skills are installed',
        hint: 'Put a folder with a SKILL.md into .agents/skills or .claude/skills in your home folder or project.',
        command: FIRST_SKILL,
      }}
    >
      {list.data && list.data.total > 0 && (
        <p class="muted">
          {count(list.data.total)} {list.data.total === 1 ? 'skill' : 'skills'}
        </p>
      )}
    </ListCard>
  )
}

function State({ skill: { error, warnings, enabled } }: { skill: Skill }) {
  if (error !== null) return <Badge tone="bad">unusable</Badge>
  if (!enabled) return <Badge>disabled</Badge>
  return warnings.length > 0 ? <Badge tone="warn">with warnings</Badge> : <Badge tone="good">ready</Badge>
}

function OneSkill({ id }: { id: string }) {
  const live = useLive<SkillWithContent>(`/api/skills/${encodeURIComponent(id)}`, { everyMs: 10_000 })
  const skill = live.data
  if (skill === null) return <NotLoaded of={live} what="the skill" />
  return (
    <>
      <Card title={skill.name} actions={<State skill={skill} />}>
        <p>{skill.description}</p>
        {skill.error !== null && <ErrorNote error={new Error(`Not available to agents: ${skill.error}`)} />}
        {skill.warnings.length > 0 && (
          <ul class="hint" aria-label="Warnings">
            {skill.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        )}
        <Facts
          of={{
            Category: skill.category,
            Tags: skill.tags.join(', ') || null,
            Version: skill.version,
            License: skill.license,
            Needs: skill.compatibility,
            From: skill.source,
            File: skill.path,
            Changed: skill.updated_at && <When at={skill.updated_at} />,
          }}
        />
      </Card>
      <Card title="Instructions">
        {skill.content ? (
          <Verbatim label="Text of the instructions" text={skill.content} />
        ) : (
          <Empty
            title="Instructions not available"
            hint={skill.source === 'upstream' ? 'The agent gateway does not provide them.' : 'The file cannot be read.'}
          />
        )}
      </Card>
    </>
  )
}

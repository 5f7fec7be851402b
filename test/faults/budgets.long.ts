import { budgetKills } from './budget-kills.ts'

budgetKills(4)

import { budgetKills } from '../faults/budget-kills.ts'

budgetKills(100)

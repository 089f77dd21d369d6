/** A scope as a model that can be searched. */
import { assert, idleStatus } from "@varve/protocol";
import { actsOf, carries } from "./acts.ts";
import type { Told } from "./driver.ts";
import { stateProblem, stepProblem } from "./invariants.ts";
import { Keys } from "./keys.ts";
import { durableOf } from "./owner.ts";
import type { Off } from "./rules.ts";
import { type Model, type Next, settle } from "./search.ts";
import { take } from "./take.ts";
import { type Act, acted, type Budgeted, emptyWorld, type Scope, type Setting, type World } from "./world.ts";

/** More carrying than any scope needs: beyond it a world never comes to rest. */
const settleMax = 500;

export function modelOf(scope: Scope, off: Off = null): Model<World, Act> {
  const setting: Setting = { scope, off };
  const keys = new Keys();
  return {
    initial: firstWorld(setting),
    acts: (world) => actsOf(world, setting),
    take: (world, act) => taken(world, act, setting),
    key: (world) => keys.of(world),
    problem: stateProblem,
  };
}

function taken(world: World, act: Act, setting: Setting): Next<World> {
  const state = take(world, act, setting);
  if (act.client === undefined) return { state, problem: null };
  const [before, after] = [world.lines[act.client], state.lines[act.client]];
  if (before === undefined || after === undefined || before.client.view === after.client.view)
    return { state, problem: null };
  return { state, problem: stepProblem(before, after, { act, told: toldIn(world, act) }) };
}

function toldIn(world: World, { do: verb, client }: Act): Told | undefined {
  const line = client === undefined ? undefined : world.lines[client];
  switch (verb) {
    case "frame":
    case "again":
      return line?.down[0];
    case "copy":
      return line?.copies[0];
    case "late-frame":
      return line?.lateDown[0];
    default:
      return undefined;
  }
}

/** Everybody is connected and holds what the owner holds. */
function firstWorld(setting: Setting): World {
  const { scope } = setting;
  // The start is the same for every rule that may be taken away: it is made with all of them in force.
  const plain: Setting = { scope, off: null };
  let world = atRest(emptyWorld(scope), plain);
  if (scope.isDetached === true) world = atRest(take(paid(world, "page"), { do: "older", client: 0 }, plain), plain);
  if (scope.isRunning) {
    const status = { ...idleStatus, state: "running" as const };
    world = atRest(acted(world, { owner: { ...world.owner, status }, ops: [{ op: "status", ...status }] }), plain);
  }
  if (scope.backupAt === undefined) return world;
  const durable = durableOf(world.owner);
  return { ...world, backup: { ...durable, rows: durable.rows.slice(0, scope.backupAt), given: scope.backupAt } };
}

/** One more of what the start itself needs. */
const paid = (world: World, verb: Budgeted): World => ({
  ...world,
  budget: { ...world.budget, [verb]: (world.budget[verb] ?? 0) + 1 },
});

function atRest(world: World, setting: Setting): World {
  const model: Model<World, Act> = {
    initial: world,
    acts: (state) => actsOf(state, setting),
    take: (state, act) => taken(state, act, setting),
    key: () => "",
    problem: stateProblem,
  };
  const end = settle(model, world, { may: carries, stepsMax: settleMax });
  assert(end !== null && end.problem === null, `a world begins at rest: ${end?.problem ?? "it never ends"}`);
  return end.state;
}

/** Carries everything that is under way, then says what is wrong. Null from `settle`: it never comes to rest. */
export function settled(
  model: Model<World, Act>,
  world: World,
): { readonly state: World; readonly problem: string | null } {
  return (
    settle(model, world, { may: carries, stepsMax: settleMax }) ?? { state: world, problem: "it never comes to rest" }
  );
}

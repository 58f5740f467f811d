import { InvalidJsonDocument } from './json-picker';

/**
 * Dependents of a component. `position` and `parents` are positions of components. `is_top_level` is true if the
 * described application is a dependent.
 */
export interface ComponentParents {
  readonly position: number;
  readonly is_top_level: boolean;
  readonly parents: readonly number[];
}

const MAX_EDGES = 500_000;
/** Dependents that are kept of one component. */
const MAX_PARENTS = 20;

/**
 * Edges between the components of a document. Texts are held once, as numbers, since a document may repeat them many
 * times. Errors: InvalidJsonDocument beyond the bound.
 */
export class DependencyGraph {
  private readonly numbers = new Map<string, number>();
  private readonly positions = new Map<number, number>();
  /** Pairs of a dependent and its dependency. */
  private readonly edges: number[] = [];
  private root: number | null = null;

  /** Names the component at a position. Of two components with one name the first counts. */
  placeComponent(ref: string | null, position: number): void {
    if (ref === null) return;
    const number = this.vertexNumber(ref);
    if (!this.positions.has(number)) this.positions.set(number, position);
  }

  setRoot(ref: string | null): void {
    this.root = ref === null ? null : this.vertexNumber(ref);
  }

  addEdge(from: string, to: string): void {
    if (this.edges.length >= 2 * MAX_EDGES) throw new InvalidJsonDocument(`it has more than ${MAX_EDGES} dependencies`);
    this.edges.push(this.vertexNumber(from), this.vertexNumber(to));
  }

  /** Returns the components that have dependents. */
  listDependents(): readonly ComponentParents[] {
    const found = new Map<number, { position: number; is_top_level: boolean; parents: number[] }>();
    for (let at = 0; at < this.edges.length; at += 2) {
      const [from, to] = [this.edges[at]!, this.edges[at + 1]!];
      const position = this.positions.get(to);
      if (position === undefined) continue;
      const entry = found.get(position) ?? { position, is_top_level: false, parents: [] };
      found.set(position, entry);
      const parent = this.positions.get(from);
      if (from === this.root) entry.is_top_level = true;
      else if (parent !== undefined && entry.parents.length < MAX_PARENTS) entry.parents.push(parent);
    }
    return [...found.values()];
  }

  private vertexNumber(ref: string): number {
    const known = this.numbers.get(ref);
    if (known !== undefined) return known;
    const number = this.numbers.size;
    this.numbers.set(ref, number);
    return number;
  }
}

import { ability, anyone, Int, signedIn, projectOrGroup, Text } from '@rookery/api-v4';
import type { Call, GroupScope, Permission, ProjectScope, ScopeOption } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import type { NoteableFinders } from './noteable-finders';
import type { NoteableKind } from './noteable-kinds';
import type { NoteableWithParent } from './planning.policy';
import type { NoteableReference } from './reader';

/**
 * Route declaration of a noteable kind. The wing of the kind declares it once. The routes below a noteable (its notes,
 * their threads, …) are built from it, so that one declaration of such a route serves every kind.
 */
export interface NoteableRoutes {
  readonly kind: NoteableKind;
  /** Path below `/api/v4`, ending in the parameter that names the noteable: `projects/:id/issues/:issue_iid`. */
  readonly path: string;
  /** Further paths of the same routes. */
  readonly aliases?: readonly string[];
  /** Column that the last path parameter is compared with. */
  readonly by: NoteableReference['by'];
  /** Noun with its article, for sentences: `an issue`. */
  readonly a: string;
  /** Source that requires notes for this kind: `requirements 1 §4 Issue notes`. */
  readonly notesSource: string;
  /**
   * Whether the parent offers this kind to the viewer, for instance by its plan. If set, the routes are for signed-in callers
   * only, and answer 403 where it is false. Errors: NotFound if the viewer may not learn that the parent has the kind.
   */
  readonly offeredBy?: (parent: ParentScope, viewer: Viewer) => boolean;
}

/** Routes of a kind whose paths name a noteable by a text. The `NoteableFinder` of the kind reads the text. */
export interface RoutesByName extends Omit<NoteableRoutes, 'by'> {
  readonly by: 'text';
}

/** Parameters of a route that needs only the noteable, whose parameter each kind adds. */
export class IdentifyNoteable {}

/** The project or group of a noteable. */
type ParentScope = ProjectScope | GroupScope;
export type BelowCall<P, V extends Viewer> = Call<P, ParentScope, V>;

/** Shared options of the routes below a noteable. */
interface SharedRouteOptions {
  readonly within: ScopeOption<ParentScope>;
  /** Admits every caller who sees the parent (`write`: signed-in callers only). The handler checks the noteable. */
  readonly may: {
    readonly read: Permission<unknown, ParentScope>;
    readonly write: Permission<unknown, ParentScope, SignedInViewer>;
  };
  /** `offeredBy` of the routes, for use in compound rules. */
  isOffered(parent: ParentScope, viewer: Viewer): boolean;
  /** Further paths that end in `tail`, as options to spread into those of an endpoint. */
  aliases(tail: string): { readonly aliases?: readonly string[] };
  /** Adds the parameter that names the noteable to the route's own parameters. */
  params<P extends object>(own: new () => P): new () => P;
}
/** Shared options of the routes below a noteable that paths name by a column. */
export interface ColumnRoutesBelow extends SharedRouteOptions {
  /** Returns the noteable that the call names. */
  referenceOf(call: BelowCall<object, Viewer>): NoteableWithParent;
}
/** Shared options of the routes below a noteable that paths name by a column or by a text. */
export interface CustomRoutesBelow extends SharedRouteOptions {
  /** Finds the noteable that the call names. `isForNew` is set for the first note of a discussion. Errors: NotFound. */
  find(
    finders: NoteableFinders,
    call: BelowCall<object, Viewer>,
    isForNew?: 'for a new note',
  ): Promise<NoteableWithParent>;
}

const lastPathParameterName = ({ path }: Pick<NoteableRoutes, 'path'>): string => /:(\w+)$/.exec(path)![1]!;

/** Builds the shared route options from a kind's declaration, for controllers that are generated for each kind. */
export function createNoteableRouteOptions(routes: NoteableRoutes): ColumnRoutesBelow {
  const { kind, by } = routes;
  const name = lastPathParameterName(routes);
  return {
    ...createRouteOptions(routes),
    referenceOf: ({ params, within }) => ({
      kind,
      parent: within,
      by,
      named: (params as Record<string, number>)[name]!,
    }),
  };
}

/** Builds the routes below a noteable that paths name by a column or by a text. */
export function createNoteableLookupRouteOptions(routes: NoteableRoutes | RoutesByName): CustomRoutesBelow {
  if (routes.by !== 'text') {
    const { referenceOf: of, ...options } = createNoteableRouteOptions(routes);
    return { ...options, find: (_, call) => Promise.resolve(of(call)) };
  }
  const name = lastPathParameterName(routes);
  return {
    ...createRouteOptions(routes),
    find: (finders, { params, within }, isForNew) => {
      const finder = finders.requireFinder(routes.kind.type);
      const named = (params as Record<string, string>)[name]!;
      return isForNew ? finder.findOrAdd(within, named) : finder.findCommit(within, named);
    },
  };
}

function createRouteOptions(routes: NoteableRoutes | RoutesByName): SharedRouteOptions {
  const { kind, aliases = [], by, offeredBy } = routes;
  const name = lastPathParameterName(routes);
  const offered =
    offeredBy &&
    ability(
      `${kind.noun}.reach`,
      ({ within, viewer }: BelowCall<unknown, SignedInViewer>) => offeredBy(within, viewer),
      {
        signedIn: true,
      },
    );
  return {
    // The JSON of a noteable mentions other noteables from anywhere if the reader sees them, so the scope is the copy.
    within: projectOrGroup(kind.parent, 'id', 'copy'),
    // The cast is safe: a SignedInViewer is a Viewer.
    may: { read: (offered as Permission<unknown, ParentScope> | undefined) ?? anyone(), write: offered ?? signedIn() },
    isOffered: (parent, viewer) => offeredBy?.(parent, viewer) ?? true,
    aliases: (tail) => (aliases.length === 0 ? {} : { aliases: aliases.map((alias) => `${alias}/${tail}`) }),
    params: (own) => {
      const Named = class extends (own as new () => object) {};
      if (by === 'text') Text({ in: 'path' })(Named.prototype as Record<string, string>, name);
      else Int()(Named.prototype as Record<string, number>, name);
      return Named as typeof own;
    },
  };
}

/** Applies a decorator only if `isWanted`, for routes that not every kind has. */
export function decorateIf(isWanted: boolean): <D extends (...args: never[]) => void>(decorator: D) => D {
  return (decorator) => (isWanted ? decorator : ((() => undefined) as unknown as typeof decorator));
}

/** Names a generated class: the OpenAPI document and error messages identify an endpoint by its class. */
export function nameClass<C extends object>(name: string, controller: C): C {
  return Object.defineProperty(controller, 'name', { value: name });
}

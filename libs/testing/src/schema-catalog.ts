import type pg from 'pg';

/**
 * The schema `public` of a database as sorted lines, one for each object in PostgreSQL's catalogs. Two databases with the same
 * lines have the same tables, columns (with their order), constraints, indexes, sequences, views, functions, triggers, policies,
 * types, extensions, comments, storage parameters, owners and grants.
 */
export async function schemaLines(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `select what || ' ' || object::text as line from (${CATALOGS.join(' union all ')}) as catalogs(what, object) order by 1`,
  );
  return rows.map(({ line }) => line);
}

const OURS = `relnamespace = 'public'::regnamespace`;

/** One query for each kind of object: its kind, and all that is known of it without its oid. */
const CATALOGS = [
  `select 'schema', jsonb_build_array(nspname, nspacl::text, obj_description(oid, 'pg_namespace'))
   from pg_namespace where nspname = 'public'`,

  `select 'relation', jsonb_build_array(relname, relkind, relpersistence, reloptions, relacl::text, relowner::regrole, reltablespace,
     relrowsecurity, relforcerowsecurity, relreplident, relispartition, obj_description(oid, 'pg_class'),
     case when relkind in ('v', 'm') then pg_get_viewdef(oid) end)
   from pg_class where ${OURS} and relkind <> 'i'`,

  `select 'column', jsonb_build_array(relname, attnum, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
     attgenerated, attcollation::regcollation, attstorage, attcompression, attstattarget, attoptions, attacl::text,
     pg_get_expr(adbin, adrelid), col_description(c.oid, attnum))
   from pg_attribute a join pg_class c on c.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where ${OURS} and relkind <> 'i' and attnum > 0`,

  `select 'constraint', jsonb_build_array(conrelid::regclass, conname, contype, convalidated, pg_get_constraintdef(oid),
     conindid::regclass, obj_description(oid, 'pg_constraint'))
   from pg_constraint where connamespace = 'public'::regnamespace`,

  `select 'index', jsonb_build_array(relname, pg_get_indexdef(c.oid), reloptions, reltablespace, indisunique, indisprimary, indisvalid,
     indisclustered, indisreplident, obj_description(c.oid, 'pg_class'))
   from pg_index join pg_class c on c.oid = indexrelid where ${OURS}`,

  `select 'sequence', jsonb_build_array(relname, format_type(seqtypid, null), seqstart, seqincrement, seqmin, seqmax, seqcache,
     seqcycle, (select jsonb_agg(jsonb_build_array(refobjid::regclass, refobjsubid, deptype)) from pg_depend
      where classid = 'pg_class'::regclass and objid = c.oid and refclassid = 'pg_class'::regclass))
   from pg_sequence join pg_class c on c.oid = seqrelid where ${OURS}`,

  `select 'function', jsonb_build_array(oid::regprocedure, case when prokind <> 'a' then pg_get_functiondef(oid) end, proacl::text,
     proowner::regrole, obj_description(oid, 'pg_proc'))
   from pg_proc where pronamespace = 'public'::regnamespace`,

  `select 'trigger', jsonb_build_array(tgrelid::regclass, pg_get_triggerdef(t.oid), tgenabled, obj_description(t.oid, 'pg_trigger'))
   from pg_trigger t join pg_class c on c.oid = tgrelid where ${OURS} and not tgisinternal`,

  `select 'policy', to_jsonb(p) from pg_policies p where schemaname = 'public'`,
  `select 'rule', to_jsonb(r) from pg_rules r where schemaname = 'public'`,
  `select 'statistics', to_jsonb(pg_get_statisticsobjdef(oid)) from pg_statistic_ext where stxnamespace = 'public'::regnamespace`,

  `select 'type', jsonb_build_array(typname, typtype, format_type(typbasetype, typtypmod), typnotnull, typdefault, typacl::text,
     obj_description(t.oid, 'pg_type'),
     (select jsonb_agg(enumlabel order by enumsortorder) from pg_enum where enumtypid = t.oid))
   from pg_type t where typnamespace = 'public'::regnamespace`,

  `select 'extension', jsonb_build_array(extname, extversion, extnamespace::regnamespace) from pg_extension`,
  `select 'default grants', jsonb_build_array(defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl::text)
   from pg_default_acl`,
];

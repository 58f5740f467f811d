-- epics_below_all_created_at_desc_20
with
  read as materialized (
    select
      a.*,
      case
        when a.group_id =:$4::bigint then ''
        else a.full_path
      end as seen_as
    from
      (
        select
          n.id
        from
          directory_namespaces n
        where
          (
            n.traversal_ids >=:$5::bigint[]::bigint[]
            and n.traversal_ids < (:$5::bigint[]::bigint[]) [1 :array_length (:$5::bigint[]::bigint[], 1) - 1] || ((:$5::bigint[]::bigint[]) [array_length(:$5::bigint[]::bigint[], 1)] + 1)
          )
          and exists (
            select
              1
            from
              epics e
            where
              e.group_id = n.id
          )
        offset
          0
      ) used
      cross join lateral (
        select
          g.id as group_id,
          g.name,
          g.path,
          g.full_path,
          g.parent_id,
          g.avatar_url,
          g.traversal_ids,
          g.emails_enabled,
          true as reads_epics,
          held.level >= 10 as is_member,
          held.level >= 15 as reads_confidential,
          held.level >= 20 as reads_internal
        from
          directory_namespaces g
          cross join lateral (
            select
              case
                when:$2::boolean then 50
                else coalesce(
                  (
                    select
                      max(held.level)::integer
                    from
                      (
                        select
                          m.access_level as level
                        from
                          directory_memberships m
                        where
                          m.user_id =:$1::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (g.traversal_ids)
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          least(s.access_level, m.access_level)
                        from
                          directory_shares s
                          join directory_namespaces invited on invited.id = s.group_id
                          join directory_memberships m on m.user_id =:$1::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (invited.traversal_ids)
                        where
                          s.source_type = 'namespace'
                          and s.source_id = any (g.traversal_ids)
                          and (
                            s.expires_on is null
                            or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          50
                        where
                          g.kind = 'user'
                          and g.owner_id =:$1::bigint
                      ) held
                  ),
                  0
                )
              end as level
            offset
              0
          ) held
        where
          g.id = used.id
          and g.kind = 'group'
          and g.plan <> 'free'
          and:$1::bigint is not null
          and (
            g.visibility = 'public'
            or held.level >= 10
            or (
              g.visibility = 'internal'
              and not:$3::boolean
            )
          )
        offset
          0
      ) a
  )
select
  (
    select
      count(*)::int
    from
      (
        select
          1
        from
          read a
          cross join lateral (
            select
              i.*
            from
              (
                select
                  own.*,
                  a.full_path,
                  a.traversal_ids,
                  a.reads_internal,
                  a.reads_confidential as may_edit,
                  a.seen_as
                from
                  epics own
                where
                  own.group_id = a.group_id
              ) i
            where
              (
                not i.confidential
                or a.reads_confidential
              )
            offset
              0
          ) i
        limit
          10001
      ) c
  ) as counted,
  null::boolean as has_more,
  (
    select
      case
        when bool_or(i.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not i.is_heavy then (
                select
                  format(
                    '{"id":%s,"work_item_id":%s,"iid":%s,"group_id":%s,"parent_id":%s,"parent_iid":%s,"title":%s,"description":%s,"state":"%s","confidential":%s,"imported":%s,"imported_from":"%s","web_url":"http://localhost:8080/groups/%s","web_edit_url":"/groups/%s","reference":"&%s","references":{"short":"&%s","relative":"%s","full":"%s"},"author":%s,"start_date":%s,"due_date":%s,"end_date":%s,"created_at":"%s","updated_at":"%s","closed_at":%s,"labels":[%s],"upvotes":%s,"downvotes":%s,"color":"%s","text_color":"%s","_links":{"self":"http://localhost:8080/api/v4/groups/%s","epic_issues":"http://localhost:8080/api/v4/groups/%s","group":"http://localhost:8080/api/v4/groups/%s","parent":%s}%s}',
                    i.id,
                    i.id,
                    i.iid,
                    i.group_id,
                    coalesce((parent.id)::text, 'null'),
                    coalesce((parent.iid)::text, 'null'),
                    to_json(i.title),
                    coalesce(to_json(i.description)::text, 'null'),
                    i.state,
                    case
                      when i.confidential then 'true'
                      else 'false'
                    end,
                    case
                      when i.imported_from <> 'none' then 'true'
                      else 'false'
                    end,
                    i.imported_from,
                    i.full_path || '/-/epics/' || i.iid,
                    i.full_path || '/-/epics/' || i.iid,
                    i.iid,
                    i.iid,
                    i.seen_as || '&' || i.iid,
                    i.full_path || '&' || i.iid,
                    coalesce(
                      (
                        select
                          format(
                            '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                            u.id,
                            u.username,
                            coalesce(to_json(u.public_email)::text, 'null'),
                            to_json(u.name),
                            u.state,
                            coalesce(
                              to_json(
                                case
                                  when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                                  else u.avatar_url
                                end
                              )::text,
                              'null'
                            ),
                            u.username
                          )
                        from
                          directory_users u
                        where
                          u.id = i.author_id
                      ),
                      'null'
                    ),
                    coalesce(
                      '"' || to_char(
                        case
                          when i.start_is_fixed then i.start_fixed_on
                          else inherited.start_on
                        end,
                        'YYYY-MM-DD'
                      ) || '"',
                      'null'
                    ),
                    coalesce(
                      '"' || to_char(
                        case
                          when i.due_is_fixed then i.due_fixed_on
                          else inherited.due_on
                        end,
                        'YYYY-MM-DD'
                      ) || '"',
                      'null'
                    ),
                    coalesce(
                      '"' || to_char(
                        case
                          when i.due_is_fixed then i.due_fixed_on
                          else inherited.due_on
                        end,
                        'YYYY-MM-DD'
                      ) || '"',
                      'null'
                    ),
                    to_char((i.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    to_char((i.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    coalesce('"' || to_char((i.closed_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null'),
                    coalesce(
                      (
                        select
                          string_agg(
                            to_json(l.title)::text,
                            ','
                            order by
                              l.title,
                              l.id
                          )
                        from
                          label_links ll
                          join labels l on l.id = ll.label_id
                          and l.group_id = any (i.traversal_ids)
                        where
                          ll.noteable_id = i.id
                          and ll.noteable_type = 'Epic'
                      ),
                      ''
                    ),
                    i.upvotes_count,
                    i.downvotes_count,
                    i.color,
                    i.text_color,
                    i.group_id || '/epics/' || i.iid,
                    i.group_id || '/epics/' || i.iid || '/issues',
                    i.group_id,
                    coalesce('"' || ('http://localhost:8080/api/v4/groups/' || parent.group_id || '/epics/' || parent.iid) || '"', 'null'),
                    case
                      when i.may_edit then format(
                        ',"start_date_is_fixed":%s,"start_date_fixed":%s,"start_date_from_inherited_source":%s,"start_date_from_milestones":%s,"due_date_is_fixed":%s,"due_date_fixed":%s,"due_date_from_inherited_source":%s,"due_date_from_milestones":%s',
                        case
                          when i.start_is_fixed then 'true'
                          else 'false'
                        end,
                        coalesce('"' || to_char(i.start_fixed_on, 'YYYY-MM-DD') || '"', 'null'),
                        coalesce('"' || to_char(inherited.start_on, 'YYYY-MM-DD') || '"', 'null'),
                        coalesce('"' || to_char(inherited.start_on, 'YYYY-MM-DD') || '"', 'null'),
                        case
                          when i.due_is_fixed then 'true'
                          else 'false'
                        end,
                        coalesce('"' || to_char(i.due_fixed_on, 'YYYY-MM-DD') || '"', 'null'),
                        coalesce('"' || to_char(inherited.due_on, 'YYYY-MM-DD') || '"', 'null'),
                        coalesce('"' || to_char(inherited.due_on, 'YYYY-MM-DD') || '"', 'null')
                      )
                    end
                  )
                from
                  (
                    with recursive
                      below (id, starts, ends, start_on, due_on, level, gates) as (
                        select
                          i.id,
                          true,
                          true,
                          null::date,
                          null::date,
                          1,
                          '{}'::bigint[]
                        union all
                        select
                          c.id,
                          b.starts
                          and not c.start_is_fixed,
                          b.ends
                          and not c.due_is_fixed,
                          case
                            when b.starts
                            and c.start_is_fixed then c.start_fixed_on
                          end,
                          case
                            when b.ends
                            and c.due_is_fixed then c.due_fixed_on
                          end,
                          b.level + 1,
                          case
                            when c.confidential
                            and c.group_id <> i.group_id then b.gates || c.group_id
                            else b.gates
                          end
                        from
                          below b
                          join epics c on c.parent_id = b.id
                        where
                          (
                            b.starts
                            or b.ends
                          )
                          and b.level < 7
                          and (
                            not c.confidential
                            or c.group_id <> i.group_id
                            or i.may_edit
                          )
                      ),
                      near as materialized (
                        select
                          *
                        from
                          below
                        limit
                          2500
                      ),
                      shut as materialized (
                        select
                          array_agg(c.group_id) as groups
                        from
                          (
                            select distinct
                              unnest(gates) as group_id
                            from
                              near
                          ) c
                        where
                          not exists (
                            select
                              1
                            from
                              (
                                select
                                  g.id as group_id,
                                  g.name,
                                  g.path,
                                  g.full_path,
                                  g.parent_id,
                                  g.avatar_url,
                                  g.traversal_ids,
                                  g.emails_enabled,
                                  true as reads_epics,
                                  held.level >= 10 as is_member,
                                  held.level >= 15 as reads_confidential,
                                  held.level >= 20 as reads_internal
                                from
                                  directory_namespaces g
                                  cross join lateral (
                                    select
                                      case
                                        when:$2::boolean then 50
                                        else coalesce(
                                          (
                                            select
                                              max(held.level)::integer
                                            from
                                              (
                                                select
                                                  m.access_level as level
                                                from
                                                  directory_memberships m
                                                where
                                                  m.user_id =:$1::bigint
                                                  and m.source_type = 'namespace'
                                                  and m.source_id = any (g.traversal_ids)
                                                  and (
                                                    m.expires_on is null
                                                    or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                                                  )
                                                union all
                                                select
                                                  least(s.access_level, m.access_level)
                                                from
                                                  directory_shares s
                                                  join directory_namespaces invited on invited.id = s.group_id
                                                  join directory_memberships m on m.user_id =:$1::bigint
                                                  and m.source_type = 'namespace'
                                                  and m.source_id = any (invited.traversal_ids)
                                                where
                                                  s.source_type = 'namespace'
                                                  and s.source_id = any (g.traversal_ids)
                                                  and (
                                                    s.expires_on is null
                                                    or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                                                  )
                                                  and (
                                                    m.expires_on is null
                                                    or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                                                  )
                                                union all
                                                select
                                                  50
                                                where
                                                  g.kind = 'user'
                                                  and g.owner_id =:$1::bigint
                                              ) held
                                          ),
                                          0
                                        )
                                      end as level
                                    offset
                                      0
                                  ) held
                                where
                                  g.id = c.group_id
                                  and g.kind = 'group'
                                  and g.plan <> 'free'
                                  and:$1::bigint is not null
                                  and (
                                    g.visibility = 'public'
                                    or held.level >= 10
                                    or (
                                      g.visibility = 'internal'
                                      and not:$3::boolean
                                    )
                                  )
                                offset
                                  0
                              ) there
                            where
                              there.reads_confidential
                          )
                      ),
                      seen as (
                        select
                          b.*
                        from
                          near b
                          cross join shut
                        where
                          shut.groups is null
                          or not b.gates && shut.groups
                      )
                    select
                      least(
                        (
                          select
                            min(b.start_on)
                          from
                            seen b
                        ),
                        min(m.start_on) filter (
                          where
                            l.starts
                        )
                      ) as start_on,
                      greatest(
                        (
                          select
                            max(b.due_on)
                          from
                            seen b
                        ),
                        max(m.due_on) filter (
                          where
                            l.ends
                        )
                      ) as due_on
                    from
                      (
                        select
                          b.starts,
                          b.ends,
                          l.issue_id
                        from
                          seen b
                          cross join lateral (
                            select
                              l.issue_id
                            from
                              epic_issues l
                            where
                              l.epic_id = b.id
                            offset
                              0
                          ) l
                        limit
                          5000
                      ) l
                      cross join lateral (
                        select
                          s.milestone_id
                        from
                          issues s
                        where
                          s.id = l.issue_id
                        offset
                          0
                      ) s
                      cross join lateral (
                        select
                          m.start_on,
                          m.due_on
                        from
                          milestones m
                        where
                          m.id = s.milestone_id
                        offset
                          0
                      ) m
                  ) inherited
                  left join lateral (
                    select
                      up.id,
                      up.iid,
                      up.group_id
                    from
                      epics up
                    where
                      up.id = i.parent_id
                      and case
                        when up.group_id = i.group_id then not up.confidential
                        or i.may_edit
                        else exists (
                          select
                            1
                          from
                            (
                              select
                                g.id as group_id,
                                g.name,
                                g.path,
                                g.full_path,
                                g.parent_id,
                                g.avatar_url,
                                g.traversal_ids,
                                g.emails_enabled,
                                true as reads_epics,
                                held.level >= 10 as is_member,
                                held.level >= 15 as reads_confidential,
                                held.level >= 20 as reads_internal
                              from
                                directory_namespaces g
                                cross join lateral (
                                  select
                                    case
                                      when:$2::boolean then 50
                                      else coalesce(
                                        (
                                          select
                                            max(held.level)::integer
                                          from
                                            (
                                              select
                                                m.access_level as level
                                              from
                                                directory_memberships m
                                              where
                                                m.user_id =:$1::bigint
                                                and m.source_type = 'namespace'
                                                and m.source_id = any (g.traversal_ids)
                                                and (
                                                  m.expires_on is null
                                                  or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                                                )
                                              union all
                                              select
                                                least(s.access_level, m.access_level)
                                              from
                                                directory_shares s
                                                join directory_namespaces invited on invited.id = s.group_id
                                                join directory_memberships m on m.user_id =:$1::bigint
                                                and m.source_type = 'namespace'
                                                and m.source_id = any (invited.traversal_ids)
                                              where
                                                s.source_type = 'namespace'
                                                and s.source_id = any (g.traversal_ids)
                                                and (
                                                  s.expires_on is null
                                                  or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                                                )
                                                and (
                                                  m.expires_on is null
                                                  or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                                                )
                                              union all
                                              select
                                                50
                                              where
                                                g.kind = 'user'
                                                and g.owner_id =:$1::bigint
                                            ) held
                                        ),
                                        0
                                      )
                                    end as level
                                  offset
                                    0
                                ) held
                              where
                                g.id = up.group_id
                                and g.kind = 'group'
                                and g.plan <> 'free'
                                and:$1::bigint is not null
                                and (
                                  g.visibility = 'public'
                                  or held.level >= 10
                                  or (
                                    g.visibility = 'internal'
                                    and not:$3::boolean
                                  )
                                )
                              offset
                                0
                            ) there
                          where
                            not up.confidential
                            or there.reads_confidential
                        )
                      end
                  ) parent on true
              )
            end,
            ','
            order by
              i.created_at desc,
              i.id desc
          ),
          ''
        ) || ']'
      end
    from
      (
        select
          i.*,
          sum(coalesce(octet_length(i.description), 0)) over () > 524288 as is_heavy
        from
          (
            select
              i.*
            from
              read a
              cross join lateral (
                select
                  i.*
                from
                  (
                    select
                      own.*,
                      a.full_path,
                      a.traversal_ids,
                      a.reads_internal,
                      a.reads_confidential as may_edit,
                      a.seen_as
                    from
                      epics own
                    where
                      own.group_id = a.group_id
                  ) i
                where
                  (
                    not i.confidential
                    or a.reads_confidential
                  )
                order by
                  i.created_at desc,
                  i.id desc
                limit
                  20
              ) i
            order by
              i.created_at desc,
              i.id desc
            limit
              20
          ) i
      ) i
  ) as json

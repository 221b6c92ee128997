-- What fans told us about themselves, and the devices that want pushes.

create table fans (
  user_id    uuid primary key,
  email      text,
  name       text,
  locale     text not null default 'hr' check (locale in ('hr', 'en')),
  updated_at timestamptz not null default now()
);

-- A device may be known before its fan has a profile, so there is no foreign key. A token is an installation of the app:
-- when somebody else signs in there, pushes for the one before must not arrive.
create table devices (
  user_id    uuid not null,
  device_id  text not null,
  fcm_token  text not null constraint devices_one_a_token unique,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (user_id, device_id)
);
